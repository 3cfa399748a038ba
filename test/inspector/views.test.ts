// Every view of the inspector, used as a person would, in a real browser against a real daemon.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { bots } from '../../daemon/api/bots/bots.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { scheduledMessages } from '../../daemon/api/messages/scheduled-messages.ts'
import { invitations } from '../../daemon/api/people/invitations.ts'
import { inEachLook, violations } from '../support/axe.ts'
import { BotServer, json } from '../support/bot-server.ts'
import { describeInBrowser, type Opened } from '../support/browser.ts'
import { Control } from '../support/control.ts'
import { Caller, sharedDaemon } from '../support/daemon.ts'
import { spaceOf } from '../support/spaces.ts'
import { until } from '../support/until.ts'

describeInBrowser('the inspector', (open, reuse) => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev', '--strict'] })
  const control = () => new Control(daemon())

  async function caller(name: string): Promise<Caller> {
    const { account } = await control().call('GET', `/accounts/${name}`)
    return new Caller(daemon().url, account.email, account.api_key, account.user_id)
  }
  const go = (page: Page, view: string) =>
    page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: view }).click()
  async function visit(view: string): Promise<Opened> {
    const opened = await reuse(daemon().ready.inspector)
    await go(opened.page, view)
    return opened
  }

  test('opens within five round trips, with the token of the fragment, which is sent in no address', async () => {
    const { page, errors, requests, trips } = await open(daemon().ready.inspector)
    await page.getByRole('heading', { name: 'All messages' }).waitFor()
    await page.getByText('Hello, everyone!').waitFor()
    const last = trips.get('/api/v1/messages')!
    assert.ok(last <= 5, JSON.stringify([...trips]))
    assert.doesNotMatch(page.url(), /token/)
    const token = daemon().ready.control_token!
    assert.deepEqual(
      requests.filter(url => url.split('#')[0]!.includes(token)),
      [],
    )
    assert.deepEqual(
      requests.filter(url => !url.startsWith(daemon().url)),
      [],
    )
    await page.reload()
    await page.getByText('Hello, everyone!').waitFor()
    assert.deepEqual(errors, [])
  })

  test('refuses a wrong token with a sentence, and lets an account sign in with its key', async () => {
    const { page } = await open(`${daemon().url}/#token=wrong`)
    await page.getByRole('alert').filter({ hasText: 'The token is wrong' }).waitFor()
    const amy = await caller('amy')
    await page.getByLabel('Email').fill(amy.email!)
    await page.getByLabel('API key or password').fill('nonsense')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('API key or password').fill(amy.key!)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'All messages' }).waitFor()
    const views = page.getByRole('navigation', { name: 'Views' }).getByRole('link')
    assert.equal(await views.count(), 3, 'without control plane there are no calls, time and health')
    assert.equal(await page.getByText('What comes after 1.0?').count(), 0, 'amy is not in the private channel')
  })

  test('sends, edits, reacts, stars and reads a message, and another account sees it live', async () => {
    const [first, second] = [await visit('Conversations'), await open(daemon().ready.inspector)]
    await second.page.getByLabel('Act as').selectOption({ label: 'Amy Adams (amy@example.com)' })
    for (const { page } of [first, second]) {
      await page
        .getByRole('navigation', { name: 'Conversations' })
        .getByRole('link', { name: 'general' })
        .first()
        .click()
      await page.getByRole('heading', { name: '#general' }).waitFor()
    }
    const writer = first.page
    await writer.getByLabel('Topic').fill('inspector')
    await writer.getByRole('textbox', { name: 'Message' }).fill('written in the *browser*')
    await writer.getByRole('textbox', { name: 'Message' }).press('Enter')
    const seen = second.page.getByRole('article').filter({ hasText: 'written in the browser' })
    await seen.waitFor()
    assert.equal(await seen.locator('em').textContent(), 'browser')
    await seen.hover()
    await seen.getByRole('button', { name: 'React' }).click()
    await seen.getByRole('button', { name: 'tada' }).click()
    const sent = writer.getByRole('article').filter({ hasText: 'written in the browser' })
    await sent.getByRole('button', { name: /tada by Amy Adams/ }).waitFor()
    await sent.hover()
    await sent.getByRole('button', { name: 'Edit' }).click()
    await writer.getByLabel('Content').fill('edited in the browser')
    await writer.getByRole('button', { name: 'Save' }).click()
    const edited = second.page.getByRole('article').filter({ hasText: 'edited in the browser' })
    await edited.waitFor()
    await edited.hover()
    await edited.getByRole('button', { name: 'Star' }).click()
    await second.page.getByRole('link', { name: 'Starred' }).click()
    await edited.waitFor()
    await edited.hover()
    await edited.getByRole('button', { name: 'Read', exact: true }).click()
    await edited.getByText('unread', { exact: true }).waitFor({ state: 'detached' })
    assert.deepEqual([...first.errors, ...second.errors], [])
  })

  test('makes a space, switches to it and back, and deletes it', async () => {
    const { page, errors } = await visit('World')
    await page.getByRole('link', { name: 'Spaces' }).click()
    await page.getByLabel('Name of the new space').fill('browsed')
    await page.getByRole('button', { name: 'Create with the dev preset' }).click()
    await page.getByRole('cell', { name: `${daemon().url}/spaces/browsed` }).waitFor()
    await page.reload()
    await page.getByLabel('World', { exact: true }).selectOption('browsed')
    await page.waitForURL(`${daemon().url}/spaces/browsed/**`)
    await page.getByText('Hello, everyone!').waitFor()
    assert.doesNotMatch(page.url(), /token/)
    const { requests } = await control().call('GET', '/requests')
    await page.getByLabel('World', { exact: true }).selectOption('main world')
    await page.waitForURL(url => !url.pathname.includes('/spaces/'))
    await page.getByText('Hello, everyone!').waitFor()
    assert.ok((await control().call('GET', '/requests')).requests.length > requests.length, 'the tab kept its token')
    await control().call('DELETE', '/spaces/browsed')
    assert.deepEqual(errors, [])
  })

  test('moves a message, searches with operators, and subscribes', async () => {
    const amy = await caller('amy')
    const { page } = await visit('Conversations')
    await amy.call(messages.send, { type: 'stream', to: 'general', topic: 'before', content: 'a movable message' })
    const row = page.getByRole('article').filter({ hasText: 'a movable message' })
    await row.waitFor()
    await row.hover()
    await row.getByRole('button', { name: 'Move' }).click()
    await row.getByLabel('Topic').fill('after')
    await row.getByRole('button', { name: 'Move' }).first().click()
    await row.getByRole('link', { name: /after/ }).waitFor()
    await page.getByLabel('Search messages').fill('channel:general topic:after sender:amy@example.com movable')
    await page.getByLabel('Search messages').press('Enter')
    await page.getByRole('heading', { name: /^Search/ }).waitFor()
    await row.waitFor()
    assert.equal(await page.getByRole('article').count(), 1)
    await page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name: 'random' }).click()
    await page.getByRole('button', { name: 'Subscribe' }).click()
    await page.getByRole('button', { name: 'Unsubscribe' }).waitFor()
  })

  test('shows events live with their queues, filters them, and opens one as JSON', async () => {
    const amy = await caller('amy')
    const { page } = await visit('Events')
    await page.getByRole('heading', { name: 'Events' }).waitFor()
    await amy.call(messages.send, { type: 'stream', to: 'general', topic: 'events', content: 'an event to find' })
    await page.getByLabel('Filter by text').fill('an event to find')
    const row = page.getByRole('button', { name: /message.*an event to find/ })
    await row.click()
    const details = page.getByRole('complementary', { name: 'Event' })
    await details.getByText('"content": "an event to find"').waitFor()
    await details.getByRole('button', { name: 'natter wait' }).waitFor()
    const command = await details.getByRole('button', { name: 'natter wait' }).getAttribute('title')
    assert.match(command!, /^natter wait --channel general --topic events --sender amy@example.com --within 30s/)
    await page.getByRole('region', { name: 'Queues' }).getByRole('row', { name: /owner/ }).first().waitFor()
    await page.getByLabel('Type').selectOption('message')
    await page.getByLabel('Filter by text').fill('nothing like this')
    await page.getByText('No events yet').waitFor()
  })

  test('shows calls with parameters and answer, makes errors stand out, and calls again', async () => {
    const amy = await caller('amy')
    const { page } = await visit('Calls')
    // One parameter that the endpoint does not know, and one as its oldest clients name it: both are sent again.
    const form = new URLSearchParams({
      type: 'stream',
      to: 'no such channel',
      subject: 'x',
      content: 'y',
      colour: 'blue',
    })
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    await amy.raw('POST', '/api/v1/messages', { headers, body: form.toString() })
    await page.getByLabel('Which calls').selectOption('errors')
    await page
      .getByRole('button', { name: /400 POST \/messages STREAM_DOES_NOT_EXIST/ })
      .last()
      .click()
    const details = page.getByRole('complementary', { name: 'Call' })
    await details.getByRole('region', { name: 'Parameters' }).getByText('no such channel').waitFor()
    await details.getByRole('region', { name: 'Answer' }).getByText('"result": "error"').waitFor()
    await details.getByText('deprecated: subject is deprecated; use topic').waitFor()
    const curl = await details.getByRole('button', { name: 'as curl' }).getAttribute('title')
    assert.match(curl!, /^curl -sS -u amy@example.com:"\$NATTER_API_KEY" -X POST http/)
    assert.match(curl!, /--data-urlencode 'to=no such channel' --data-urlencode subject=x .* colour=blue$/)
    const { last_id } = await control().call('GET', '/requests', undefined)
    await details.getByRole('button', { name: 'Again' }).click()
    const { call } = await control().call('POST', '/requests/wait', {
      code: 'STREAM_DOES_NOT_EXIST',
      since: last_id,
      within: 60,
    })
    assert.deepEqual(call.sent, Object.fromEntries(form))
  })

  test('freezes and moves the clock to what falls due, and adds and removes a fault', async () => {
    const bob = await caller('bob')
    const { page } = await visit('Time and faults')
    const { now } = await control().call('GET', '/clock')
    const scheduled_delivery_timestamp = Math.floor(now / 1000) + 90
    await bob.call(scheduledMessages.create, {
      type: 'direct',
      to: [bob.id!],
      content: 'soon due',
      scheduled_delivery_timestamp,
    })
    await page.getByRole('button', { name: 'Freeze' }).click()
    await page.getByText('frozen', { exact: true }).waitFor()
    await page.getByRole('list', { name: 'What falls due' }).getByText('soon due').waitFor()
    await page.getByRole('button', { name: 'To the next thing due' }).click()
    await page.getByRole('list', { name: 'What falls due' }).getByText('soon due').waitFor({ state: 'detached' })
    const moved = await control().call('GET', '/clock')
    assert.ok(moved.frozen && moved.now >= scheduled_delivery_timestamp * 1000)
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('running', { exact: true }).waitFor()

    const form = page.getByRole('form', { name: 'Add a fault' })
    await form.getByLabel('Kind').selectOption('status')
    await form.getByLabel('Account').selectOption('bob@example.com')
    await form.getByRole('textbox', { name: 'Status' }).fill('503')
    await form.getByLabel('How many calls').fill('1')
    await form.getByRole('button', { name: 'Add fault' }).click()
    const rows = page.getByRole('region', { name: 'Fault rules' }).getByRole('row', { name: /bob@example.com/ })
    await rows.waitFor()
    assert.equal((await bob.raw('GET', '/api/v1/users/me')).status, 503)
    await until(async () => (await rows.getByRole('cell').nth(4).textContent()) === '1')
    await rows.getByRole('button', { name: 'Remove' }).click()
    await rows.waitFor({ state: 'detached' })
  })

  test('shows accounts with keys on request, groups with their rules, channels, snapshots and mails', async () => {
    const { page } = await visit('World')
    const amy = await caller('amy')
    const row = page.getByRole('row', { name: /Amy Adams/ })
    await row.waitFor()
    assert.equal(await page.getByText(amy.key!).count(), 0)
    await row.getByRole('button', { name: 'Show key' }).click()
    await row.getByText(amy.key!).waitFor()
    const parts = page.getByRole('navigation', { name: 'Parts of the world' })
    await parts.getByRole('link', { name: 'Groups' }).click()
    await page
      .getByText('Members of create_multiuse_invite_group who are not bots may create invitation links.')
      .waitFor()
    await parts.getByRole('link', { name: 'Channels' }).click()
    await page
      .getByRole('row', { name: /#general/ })
      .getByRole('button', { name: 'Show' })
      .click()
    await page.getByText('history_public_to_subscribers').waitFor()
    await parts.getByRole('link', { name: 'Snapshots' }).click()
    await page.getByLabel('Name of the snapshot').fill('from-the-page')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: /from-the-page/ }).waitFor()
    await amy.call(messages.send, { type: 'stream', to: 'general', topic: 'gone', content: 'will be undone' })
    await page
      .getByRole('row', { name: /from-the-page/ })
      .getByRole('button', { name: 'Restore' })
      .click()
    await page.getByText('Restored.').waitFor()
    const { messages: left } = await amy.call(messages.list, { anchor: 'newest', num_before: 20, num_after: 0 })
    assert.ok(!left.some(({ content }) => content.includes('will be undone')))
    await parts.getByRole('link', { name: 'Mails' }).click()
    await page.getByText('No mails').waitFor()
    await parts.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByText('No deliveries').waitFor()
  })

  test('shows mails and deliveries of webhooks, and sends one again', async t => {
    const server = new BotServer()
    await server.listen()
    t.after(() => server.close())
    server.answer = json({ content: 'Noted.' })
    const made = await control().call('POST', '/spaces', {})
    const { owner, control: inSpace } = spaceOf(made)
    const bot = { full_name: 'Note Bot', short_name: 'note', bot_type: 3, payload_url: server.url } as const
    await owner.call(bots.create, bot)
    await owner.call(messages.send, { type: 'stream', to: 'general', topic: 'notes', content: '@**Note Bot** hello' })
    await owner.call(invitations.send, { invitee_emails: 'zoe@example.com', stream_ids: [] })
    const { page, errors } = await open(made.inspector)
    await go(page, 'World')
    const parts = page.getByRole('navigation', { name: 'Parts of the world' })
    await parts.getByRole('link', { name: 'Mails' }).click()
    await page.getByText('to zoe@example.com').click()
    await page.locator('pre').getByText('/join/').waitFor()
    await inSpace.call('POST', '/wait', { webhook: { status: 'delivered' }, within: 60 })
    await parts.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByText('delivered').waitFor()
    await page.getByText('1 attempt, answered 200').waitFor()
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByRole('heading', { name: `Request ${server.url}` }).waitFor()
    await page.getByText('Noted.').waitFor()
    await page.getByRole('button', { name: 'Hide' }).click()
    await page.getByRole('button', { name: 'Again' }).click()
    await page.getByText('Sent again.').waitFor()
    await until(() => server.received.length === 2)
    assert.deepEqual(errors, [])
    await control().call('DELETE', `/spaces/${made.name}`)
  })

  test('plots health with values that need no colours', async () => {
    const { page, errors } = await visit('Health')
    await page.getByRole('img', { name: /^Memory: process [\d.]+ MiB, heap/ }).waitFor()
    await page.getByRole('img', { name: /^Calls and events: calls [\d.]+\/s/ }).waitFor()
    assert.deepEqual(errors, [])
  })

  test('works with the keyboard alone', async () => {
    const { page } = await visit('Conversations')
    await page.getByText('Hello, everyone!').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    assert.match(
      (await page.evaluate<string>('document.activeElement.getAttribute("aria-label")')) ?? '',
      /^Message \d+ from/,
    )
    await page.keyboard.press('/')
    assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-label")'), 'Search messages')
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('e')
    await page.getByRole('heading', { name: 'Events' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' })
    await page.keyboard.press('g')
    await page.keyboard.press('h')
    await page.getByRole('heading', { name: 'Health' }).waitFor()
  })

  test('opens links to topics and to direct messages, as the server writes them', async () => {
    const { page } = await visit('Conversations')
    await page.getByRole('navigation', { name: 'Views' }).waitFor()
    for (const [link, heading] of [
      ['#narrow/channel/1-general/topic/hello/with/2', /general.*hello/],
      ['#narrow/dm/2,5-dm/near/4', /Amy Adams/],
    ] as const) {
      await page.evaluate(`location.hash = ${JSON.stringify(link)}`)
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    }
  })

  test('has no violation that axe finds, in light and dark, wide and narrow', async () => {
    const paths = [
      '#/conversations/channel/1',
      '#/events',
      '#/calls',
      '#/time',
      '#/world/accounts',
      '#/world/groups',
      '#/world/snapshots',
      '#/world/drift',
      '#/health',
    ]
    const { page } = await open(daemon().ready.inspector)
    await page.getByRole('navigation', { name: 'Views' }).waitFor()
    // The policy of the page allows no script but its own, so the tool comes in from outside.
    for (const path of paths) {
      await page.evaluate(`location.hash = ${JSON.stringify(path)}`)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      // Most rows of a log have one form, of which the last are in sight, and all views have the same rail.
      const rows = '.virtual-rows > li:nth-last-child(n+8):not(:has([data-bad=true], .warn))'
      const except = path === paths[0] ? [] : ['.rail', rows]
      await inEachLook(page, async look => {
        assert.deepEqual(await violations(page, except), [], `${path} ${look}`)
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        assert.ok(wide <= 0, `${path} is ${wide} pixels too wide: ${look}`)
      })
    }
  })
})
