// The files of each scaffold, and the command that runs them. Tests generate and run every one.

import { botFiles } from '../bot/new.ts'

interface Scaffold {
  readonly about: string
  readonly files: Readonly<Record<string, string>>
  readonly run: string
}

const conftest = `# Gives every test a chat server of its own: the fixture "natter".
# Run the tests with \`natter exec --preset dev -- pytest\`, which starts one daemon for the run and sets NATTER_*.

import base64, json, os, urllib.parse, urllib.request
import pytest


class Natter:
    """The server, and the accounts of the preset dev: owner, ada, mo, amy, bob, cat, guy, echo-bot, deploy-bot."""

    url = os.environ.get("NATTER_SITE")

    def control(self, method, path):
        """Calls the control plane: the clock, faults, waits, the keys of all accounts."""
        token = "Bearer " + os.environ["NATTER_CONTROL_TOKEN"]
        return self._send(method, "/control/v1" + path, token)

    def call(self, account, method, path, **params):
        """Calls the API as an account. Texts are sent as they are, everything else as JSON."""
        found = self.control("GET", "/accounts/" + account)["account"]
        key = base64.b64encode(f"{found['email']}:{found['api_key']}".encode()).decode()
        fields = {name: value if isinstance(value, str) else json.dumps(value) for name, value in params.items()}
        return self._send(method, "/api/v1" + path, "Basic " + key, urllib.parse.urlencode(fields))

    def _send(self, method, path, authorization, form=""):
        if method == "GET" and form:
            path, form = path + "?" + form, ""
        request = urllib.request.Request(self.url + path, method=method, data=form.encode() or None)
        request.add_header("Authorization", authorization)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)


@pytest.fixture
def natter():
    if not Natter.url:
        pytest.fail("run: natter exec --preset dev -- pytest")
    server = Natter()
    server.control("POST", "/reset")  # Every test finds the organization as it was founded.
    return server
`

const testNatter = `# An example: replace it by what your code does.


def test_a_message_is_read(natter):
    natter.call("amy", "POST", "/messages", type="channel", to="general", topic="tests", content="Hello!")
    narrow = [["topic", "tests"]]
    found = natter.call("bob", "GET", "/messages", anchor="newest", num_before=1, num_after=0, narrow=narrow)
    assert "Hello!" in found["messages"][0]["content"]
`

const nodeTest = (
  runner: string,
  before: string,
  after: string,
) => `// Each test run starts a daemon in this process, in milliseconds. Replace the example by what your code does.

${[
  `import { ${after}, ${before}, beforeEach, test } from '${runner}'`,
  "import assert from 'node:assert/strict'",
  "import { startNatter } from 'natter/testing'",
].join('\n')}

let natter

${before}(async () => {
  natter = await startNatter() // The preset dev: owner, ada, mo, amy, bob, cat, guy, echo-bot, deploy-bot.
})
${after}(() => natter.stop())
beforeEach(() => natter.reset()) // Every test finds the organization as it was founded.

test('a message arrives', async () => {
  await natter.as('amy').messages.send({ type: 'channel', to: 'general', topic: 'tests', content: 'Hello!' })
  const event = await natter.waitFor({ type: 'message', message: { subject: 'tests' } }, { user: 'bob' })
  assert.match(JSON.stringify(event), /Hello!/)
})
`

const goTest = `// Package chat tests against a chat server: natter exec --preset dev -- go test ./...
package chat

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
)

// call sends a request and decodes the answer.
func call(t *testing.T, method, path string, form url.Values, authorize func(*http.Request), answer any) {
	t.Helper()
	request, err := http.NewRequest(method, os.Getenv("NATTER_SITE")+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	authorize(request)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		t.Fatal(method, path, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		t.Fatal(err)
	}
}

func control(request *http.Request) {
	request.Header.Set("Authorization", "Bearer "+os.Getenv("NATTER_CONTROL_TOKEN"))
}

func owner(request *http.Request) {
	request.SetBasicAuth(os.Getenv("NATTER_EMAIL"), os.Getenv("NATTER_API_KEY"))
}

// Replace it by what your code does.
func TestMessageIsSent(t *testing.T) {
	if os.Getenv("NATTER_SITE") == "" {
		t.Skip("run: natter exec --preset dev -- go test ./...")
	}
	var done map[string]any
	call(t, "POST", "/control/v1/reset", nil, control, &done) // Every test finds the organization as it was founded.
	message := url.Values{"type": {"channel"}, "to": {"general"}, "topic": {"tests"}, "content": {"Hello!"}}
	var sent struct{ ID int }
	call(t, "POST", "/api/v1/messages", message, owner, &sent)
	if sent.ID == 0 {
		t.Fatal("the message has no ID")
	}
}
`

const workflow = `# Runs the tests with a chat server of their own. If they fail, calls, events, the log and a snapshot are kept as an artifact:
# download it and run \`natter exec --resume FOLDER\` to look at the organization as the tests left it.

name: natter
on: [push, pull_request]

jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 22
      - run: npm install --global natter
      # Replace npm test by the command that runs your tests.
      - run: natter exec --preset dev --on-failure natter-failure -- npm test
      - if: failure()
        uses: actions/upload-artifact@v4
        with:
          name: natter-failure
          path: natter-failure
`

export const scaffolds: Readonly<Record<string, Scaffold>> = {
  pytest: {
    about: 'a fixture for pytest and a test',
    files: { 'conftest.py': conftest, 'test_natter.py': testNatter },
    run: 'natter exec --preset dev -- pytest',
  },
  node: {
    about: 'a test for the runner of Node',
    files: { 'natter.test.mjs': nodeTest('node:test', 'before', 'after') },
    run: 'node --test',
  },
  vitest: {
    about: 'a test for vitest',
    files: { 'natter.spec.mjs': nodeTest('vitest', 'beforeAll', 'afterAll') },
    run: 'npx vitest run',
  },
  go: {
    about: 'a package with a test',
    files: { 'chat/chat_test.go': goTest },
    run: 'natter exec --preset dev -- go test ./...',
  },
  github: {
    about: 'a workflow for GitHub Actions',
    files: { '.github/workflows/natter.yml': workflow },
    run: 'natter exec --preset dev --on-failure natter-failure -- npm test',
  },
  bot: {
    about: 'a bot and its test',
    files: botFiles('bot', 'mjs'),
    run: 'natter exec --preset dev -- natter bot run bot.mjs --as echo-bot',
  },
}
