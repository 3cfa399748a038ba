// The files of each scaffold, and the command that runs them. Tests generate and run every one.

import { version } from '../../../base/version.ts'
import { botFiles } from '../../bot/new.ts'
import { agentFiles } from './agent.ts'
import { evalFiles } from './eval.ts'

interface Scaffold {
  readonly about: string
  readonly files: Readonly<Record<string, string>>
  /** The files that differ where natter is a dependency of the project, and its programs are reached by npx. */
  readonly withNpx?: Readonly<Record<string, string>>
  /** The files that differ where npm installs what the project needs. */
  readonly withLock?: Readonly<Record<string, string>>
  readonly run: string
}

const conftest = `# Gives every test a chat server of its own: the fixture "natter", a space of the daemon that runs the whole session.
# Run the tests with \`natter exec --preset dev -- pytest\`, which starts the daemon and sets NATTER_*. With pytest-xdist they can
# run in parallel: \`natter exec --preset dev -- pytest -n 8\`. NATTER_LEVEL=12.0 runs them at that feature level, and
# \`natter exec --preset dev --levels 421,498,latest -- pytest\` at several.

import base64, json, os, urllib.error, urllib.parse, urllib.request
import pytest


def send(method, url, authorization, form=""):
    __tracebackhide__ = True  # A failure shows the line of the test.
    if method == "GET" and form:
        url, form = url + "?" + form, ""
    request = urllib.request.Request(url, method=method, data=form.encode() or None)
    request.add_header("Authorization", authorization)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{method} {url}: {error.code} {error.read().decode()}") from None


def encode(params):
    """Texts are sent as they are, everything else as JSON."""
    fields = {name: value if isinstance(value, str) else json.dumps(value) for name, value in params.items()}
    return urllib.parse.urlencode(fields)


class Natter:
    """The server, and the accounts of the preset dev: owner, ada, mo, amy, bob, cat, guy, echo-bot, deploy-bot."""

    def __init__(self, space):
        self.url = space["url"]
        self.token = space["control_token"]

    def control(self, method, path, **params):
        """Calls the control plane (clock, faults, waits, accounts): control("POST", "/clock/advance", by="10m").

        A bot that a test starts gets no message that was sent before it listens. This waits for it:
        control("POST", "/queues/wait", user="echo-bot", within="10s")["met"]
        """
        __tracebackhide__ = True
        return send(method, self.url + "/control/v1" + path + "?" + encode(params), "Bearer " + self.token)

    def call(self, account, method, path, **params):
        """Calls the API as an account."""
        __tracebackhide__ = True
        found = self.control("GET", "/accounts/" + account)["account"]
        key = base64.b64encode(f"{found['email']}:{found['api_key']}".encode()).decode()
        return send(method, self.url + "/api/v1" + path, "Basic " + key, encode(params))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = (yield).get_result()
    item.natter_failed = report.failed or getattr(item, "natter_failed", False)


@pytest.fixture
def natter(request):
    if "NATTER_SITE" not in os.environ:
        pytest.fail("run: natter exec --preset dev -- pytest", pytrace=False)
    spaces = os.environ["NATTER_SITE"] + "/control/v1/spaces"
    token = "Bearer " + os.environ["NATTER_CONTROL_TOKEN"]
    space = send("POST", spaces, token)  # Every test finds the organization as it was founded.
    yield Natter(space)
    if getattr(request.node, "natter_failed", False) and "NATTER_ON_FAILURE" in os.environ:
        print("natter: kept as", os.environ["NATTER_ON_FAILURE"] + "/spaces/" + space["name"])
        return  # natter exec --on-failure keeps what explains the failure.
    send("DELETE", spaces + "/" + space["name"], token)
`

const testNatter = `# An example: replace it by what your code does.


def test_a_message_is_read(natter):
    natter.call("amy", "POST", "/messages", type="channel", to="general", topic="tests", content="Hello!")
    narrow = [["topic", "tests"]]
    found = natter.call("bob", "GET", "/messages", anchor="newest", num_before=1, num_after=0, narrow=narrow)
    assert "Hello!" in found["messages"][0]["content"]
`

const nodeTest = (
  imports: readonly string[],
  before: string,
  after: string,
) => `// Each test run starts a daemon in this process, in milliseconds. Replace the example by what your code does.

${imports.join('\n')}

let natter

${before}(async () => {
  // NATTER_LEVEL=12.0 runs the tests at that feature level.
  natter = await startNatter() // The preset dev: owner, ada, mo, amy, bob, cat, guy, echo-bot, deploy-bot.
})
${after}(() => natter.stop())
beforeEach(() => natter.reset()) // Every test finds the organization as it was founded.
keepOnFailure(() => natter, { afterEach }) // With NATTER_ON_FAILURE=FOLDER, what explains a failed test is kept there.

test('a message arrives', async () => {
  await natter.as('amy').messages.send({ type: 'channel', to: 'general', topic: 'tests', content: 'Hello!' })
  const event = await natter.waitFor({ type: 'message', message: { subject: 'tests' } }, { user: 'bob' })
  assert.equal(event.message.content, 'Hello!')
})
`

const importsFor = (runner: string, before: string, after: string) => [
  `import { ${after}, afterEach, ${before}, beforeEach, test } from '${runner}'`,
  "import assert from 'node:assert/strict'",
  "import { keepOnFailure, startNatter } from 'natter/testing'",
]

/** With require, which jest takes as it is. */
const importsForJest = [
  "const assert = require('node:assert/strict')",
  "const { keepOnFailure, startNatter } = require('natter/testing')",
]

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

// server is a space: an organization of its own in the daemon that natter exec starts.
type server struct {
	Name, URL string
	Owner     struct {
		Email  string
		APIKey string \`json:"api_key"\`
	}
}

// newServer makes a space for one test, with the accounts and channels of the preset dev.
func newServer(t *testing.T) server {
	t.Helper()
	if os.Getenv("NATTER_SITE") == "" {
		t.Skip("run: natter exec --preset dev -- go test ./...")
	}
	spaces := os.Getenv("NATTER_SITE") + "/control/v1/spaces"
	var made server
	call(t, "POST", spaces, nil, control, &made)
	t.Cleanup(func() {
		if folder := os.Getenv("NATTER_ON_FAILURE"); folder != "" && t.Failed() {
			t.Log("natter: kept as", folder+"/spaces/"+made.Name)
			return // natter exec --on-failure keeps what explains the failure.
		}
		call(t, "DELETE", spaces+"/"+made.Name, nil, control, &struct{}{})
	})
	return made
}

// post calls the API as the owner.
func (s server) post(t *testing.T, path string, form url.Values, answer any) {
	t.Helper()
	owner := func(request *http.Request) { request.SetBasicAuth(s.Owner.Email, s.Owner.APIKey) }
	call(t, "POST", s.URL+"/api/v1"+path, form, owner, answer)
}

func control(request *http.Request) {
	request.Header.Set("Authorization", "Bearer "+os.Getenv("NATTER_CONTROL_TOKEN"))
}

// call sends a request and decodes the answer.
func call(t *testing.T, method, address string, form url.Values, authorize func(*http.Request), answer any) {
	t.Helper()
	request, err := http.NewRequest(method, address, strings.NewReader(form.Encode()))
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
		t.Fatal(method, address, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		t.Fatal(err)
	}
}

// Replace it by what your code does. Tests have nothing in common, so they can run in parallel.
func TestMessageIsSent(t *testing.T) {
	t.Parallel()
	chat := newServer(t)
	message := url.Values{"type": {"channel"}, "to": {"general"}, "topic": {"tests"}, "content": {"Hello!"}}
	var sent struct{ ID int }
	chat.post(t, "/messages", message, &sent)
	if sent.ID == 0 {
		t.Fatal("the message has no ID")
	}
}
`

const workflow = (
  steps: string,
) => `# Runs the tests with a chat server of their own. If they fail, calls, events, the log and a snapshot are kept as an artifact:
# download it and run \`natter exec --resume FOLDER\` to look at the organization as the tests left it.

name: natter
on: [push, pull_request]

jobs:
  test:
    runs-on: ubuntu-latest
    strategy:
      fail-fast: false
      matrix:
        # Feature levels: that of the specification, 12.0, the newest one.
        level: ['417', '12.0', 'latest']
    env:
      NATTER_LEVEL: \${{ matrix.level }}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 22
${steps}
      - if: failure()
        uses: actions/upload-artifact@v4
        with:
          name: natter-failure-\${{ matrix.level }}
          path: natter-failure
`

const runTests = 'natter exec --preset dev --on-failure natter-failure -- npm test'

const globalSteps = `      # The tarball of a release, which your repository has. If natter is a dependency of your project, write npm ci instead,
      # and npx natter exec below.
      - run: npm install --global ./natter-${version()}.tgz
      # Replace npm test by the command that runs your tests. Install what they need before, such as npm ci.
      - run: ${runTests}`

const lockSteps = `      - run: npm ci
      # The tarball of a release, which your repository has. If natter is a dependency of your project, leave this out, and write
      # npx natter exec below.
      - run: npm install --global ./natter-${version()}.tgz
      # Replace npm test by the command that runs your tests.
      - run: ${runTests}`

const projectSteps = `      - run: npm ci
      # Replace npm test by the command that runs your tests.
      - run: npx ${runTests}`

const workflowFile = '.github/workflows/natter.yml'

export const scaffolds: Readonly<Record<string, Scaffold>> = {
  pytest: {
    about: 'a fixture for pytest and a test',
    files: { 'conftest.py': conftest, 'test_natter.py': testNatter },
    run: 'natter exec --preset dev -- pytest',
  },
  node: {
    about: 'a test for the runner of Node',
    files: { 'natter.test.mjs': nodeTest(importsFor('node:test', 'before', 'after'), 'before', 'after') },
    run: 'node --test',
  },
  vitest: {
    about: 'a test for vitest',
    files: { 'natter.spec.mjs': nodeTest(importsFor('vitest', 'beforeAll', 'afterAll'), 'beforeAll', 'afterAll') },
    run: 'npx vitest run',
  },
  jest: {
    about: 'a test for jest',
    files: { 'natter.test.js': nodeTest(importsForJest, 'beforeAll', 'afterAll') },
    run: 'npx jest',
  },
  go: {
    about: 'a package with a test',
    files: { 'chat/chat_test.go': goTest },
    run: 'natter exec --preset dev -- go test ./...',
  },
  github: {
    about: 'a workflow for GitHub Actions',
    files: { [workflowFile]: workflow(globalSteps) },
    withLock: { [workflowFile]: workflow(lockSteps) },
    withNpx: { [workflowFile]: workflow(projectSteps) },
    run: runTests,
  },
  bot: {
    about: 'a bot and its test',
    files: botFiles('bot', 'mjs'),
    run: 'node --test bot.test.mjs',
  },
  agent: {
    about: 'a skill file and an MCP configuration for an agent',
    files: agentFiles('natter'),
    withNpx: agentFiles('npx natter'),
    run: 'natter mcp --list --profile local',
  },
  eval: {
    about: 'three cases for an agent, and a script that solves them',
    files: evalFiles,
    run: 'natter eval cases -- node agent.mjs',
  },
}
