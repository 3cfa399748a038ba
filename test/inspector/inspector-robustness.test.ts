// Data and failures that must not break the inspector: markup in every field, large texts, many rows, and a daemon that goes away.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { scheduledMessages } from '../../daemon/api/messages/scheduled-messages.ts'
import { organization } from '../../daemon/api/organization/organization.ts'
import { userGroups } from '../../daemon/api/people/user-groups.ts'
import { users } from '../../daemon/api/people/users.ts'
import { describeInBrowser } from '../support/browser.ts'
import { Control } from '../support/control.ts'
import { launch, sharedDaemon, startDaemon } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'

const markup = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`

describeInBrowser('the inspector with bad input', (open, reuse) => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })

  test('runs no script of any field that a person can write', async () => {
    const { owner } = daemon()
    const short = '<img src=x onerror=hacked=1>'
    await owner.call(organization.update, { name: short })
    await owner.call(users.update, { user_id: owner.id!, full_name: "<img src=x onerror='hacked=1' x" })
    await owner.call(subscriptions.subscribe, { subscriptions: [{ name: short, description: markup }] })
    const body = { name: short, description: markup, members: [owner.id!] }
    await owner.call(userGroups.create, body)
    const links = '[x](javascript:window.hacked=1) <a href="javascript:hacked=1">y</a> ![p](http://127.0.0.1:1/p.png)'
    for (const content of [markup, links, `\`\`\`${short}\n${markup}\n\`\`\``])
      await owner.call(messages.send, { type: 'stream', to: short, topic: short, content })
    await new Control(daemon()).call('POST', '/snapshots', { name: 'plain' })
    const { now } = await new Control(daemon()).call('GET', '/clock')
    await owner.call(scheduledMessages.create, {
      type: 'direct',
      to: [owner.id!],
      content: markup,
      scheduled_delivery_timestamp: Math.floor(now / 1000) + 3600,
    })
    const headers = { 'User-Agent': markup, 'Content-Type': 'application/x-www-form-urlencoded' }
    const form = new URLSearchParams({ type: 'stream', to: markup, topic: short, content: markup, [short]: markup })
    await owner.raw('POST', '/api/v1/messages', { headers, body: form.toString() })
    const { page, errors, requests } = await reuse(daemon().ready.inspector)
    await page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name: short }).first().click()
    await page.getByRole('article').nth(2).waitFor()
    // What of the markup each view shows as text. Without it, a view that shows nothing would pass.
    const shown = new Map([
      ['events', short],
      ['calls', 'STREAM_DOES_NOT_EXIST'],
      ['time', markup],
      ['world/accounts', 'img src=x'],
      ['world/groups', short],
      ['world/channels', short],
      ['world/snapshots', 'plain'],
      ['world/mails', 'No mails'],
      ['health', 'Health'],
      ['conversations', short],
    ])
    for (const [view, text] of shown) {
      await page.evaluate(`location.hash = '#/${view}'`)
      await page.locator('.main').getByText(text).first().waitFor()
      if (view === 'events' || view === 'calls') {
        await page.locator('.row', { hasText: text }).last().click()
        await page.getByRole('complementary').getByText('window.hacked').first().waitFor()
      }
      assert.equal(await page.evaluate('window.hacked'), undefined, view)
    }
    assert.equal(await page.locator('a[href^="javascript:"]').count(), 0)
    assert.deepEqual(
      requests.filter(url => !url.startsWith(daemon().url)),
      [],
    )
    assert.deepEqual(errors, [])
  })

  test('opens with the sign-in form if the token in its address is not one', async () => {
    const { page, errors } = await open('about:blank')
    for (const token of ['%', '%E0%A4%A']) {
      await page.goto('about:blank')
      await page.goto(`${daemon().url}/#token=${token}`)
      await page.getByText('The token is wrong').waitFor()
      assert.deepEqual(errors, [], token)
    }
  })

  test('shows HTML of a message only as the sanitiser leaves it, whatever a daemon answers', async () => {
    const { page, requests } = await open('about:blank')
    const strays = ['/%2e./', '//thumbnail../', '/.&#9;./']
      .map(way => `<img src="/user_uploads${way}elsewhere">`)
      .join('')
    await page.route('**/api/v1/messages?**', async route => {
      const response = await route.fetch()
      const body = await response.json()
      for (const message of body.messages)
        message.content = `${markup}<p style="position:fixed" onclick="hacked=1" id="app">bare</p><svg onload=hacked=1></svg><iframe src="//x"></iframe><form><input></form>${strays}`
      await route.fulfill({ response, json: body })
    })
    await page.goto(daemon().ready.inspector)
    await page.getByText('bare').first().waitFor()
    assert.equal(await page.evaluate('window.hacked'), undefined)
    for (const bad of [
      '[style*=fixed]',
      '[onclick]',
      'svg[onload]',
      'iframe',
      '.rendered form',
      '.rendered script',
      '.rendered #app',
    ])
      assert.equal(await page.locator(bad).count(), 0, bad)
    // Of each message.
    await page.getByRole('article').first().getByText('picture at /user_uploads').nth(2).waitFor()
    assert.deepEqual(
      requests.filter(url => url.includes('elsewhere')),
      [],
    )
  })

  test('shows the other messages of a topic beside widgets with objects in place of texts', async () => {
    const { owner } = daemon()
    const bad = { toString: 1, valueOf: 1 }
    const say = (content: string) =>
      owner.call(messages.send, { type: 'stream', to: 'general', topic: 'widgets', content })
    const put = (message_id: number, data: object) =>
      owner.call(messages.submessage, { message_id, msg_type: 'widget', content: JSON.stringify(data) })
    await say('said before')
    // Only the first part of a widget is not checked.
    for (const widget of [
      { widget_type: 'poll', extra_data: { question: bad, options: [bad, 'an option that can be read'] } },
      {
        widget_type: 'todo',
        extra_data: { task_list_title: bad, tasks: [{ task: bad }, { task: 'a task that can be read', desc: bad }] },
      },
    ])
      await put((await say('to become a widget')).id, widget)
    await say('said after')
    const { page, errors } = await reuse(daemon().ready.inspector)
    await page.evaluate(`location.hash = '#/conversations'`)
    for (const text of ['said before', 'an option that can be read', 'a task that can be read', 'said after'])
      await page.getByRole('article').filter({ hasText: text }).waitFor({ timeout: 20_000 })
    assert.deepEqual(errors, [])
  })

  test('shows the other messages of a topic beside one that cannot be drawn', async () => {
    const { owner } = daemon()
    for (const content of ['stays readable', 'has no reactions', 'stays readable too'])
      await owner.call(messages.send, { type: 'stream', to: 'general', topic: 'drawn', content })
    const { page } = await open('about:blank')
    await page.route('**/api/v1/messages?**', async route => {
      const response = await route.fetch()
      const body = await response.json()
      for (const message of body.messages) if (/has no reactions/.test(message.content)) delete message.reactions
      await route.fulfill({ response, json: body })
    })
    await page.goto(daemon().ready.inspector)
    for (const text of ['stays readable too', 'cannot be shown', 'stays readable'])
      await page.getByRole('article').filter({ hasText: text }).first().waitFor({ timeout: 20_000 })
  })

  test('keeps its layout with 10,000 characters of every script, 1,000 channels and a clock in 2100', async t => {
    const far = await startDaemon(t, {
      flags: ['--memory', '--preset', 'dev', '--clock', 'frozen@2100-01-01T00:00:00Z'],
    })
    const { owner } = far
    const scripts = 'Latin Кириллица 中文字 العربية עברית हिन्दी ไทย 한국어 🎉👩‍👩‍👧 Z̷̢a̸l̶g̵o̴ '
    const content = `${'x'.repeat(400)} ${scripts.repeat(200)}`.slice(0, 9_990)
    await owner.call(messages.send, { type: 'stream', to: 'general', topic: 'long', content })
    for (let first = 0; first < 1000; first += 100)
      await owner.call(subscriptions.subscribe, {
        subscriptions: Array.from({ length: 100 }, (_, n) => ({ name: `channel ${first + n}` })),
      })
    const { page, errors } = await open(far.ready.inspector, { viewport: { width: 360, height: 720 } })
    // By selectors: the roles and names of thousands of elements take long to compute.
    await page.locator('.sidebar .name', { hasText: /^channel 0$/ }).waitFor()
    const narrow = ['conversations/channel/1', 'events', 'calls', 'world/channels', 'world/spaces', 'health', 'time']
    for (const view of narrow) {
      await page.evaluate(`location.hash = '#/${view}'`)
      await page.locator('h1').first().waitFor()
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      assert.ok(wide <= 0, `${view} is ${wide} pixels too wide`)
    }
    await page.locator('.clock-face').getByText('2100').waitFor()
    assert.deepEqual(errors, [])
  })

  test('survives scrolling that a browser reports after the view has changed', async () => {
    const { page, errors } = await reuse(daemon().ready.inspector)
    for (const [view, list, next] of [
      ['conversations', '.messages', 'events'],
      ['events', '.virtual-box', 'health'],
    ]) {
      await page.evaluate(`location.hash = '#/${view}'`)
      const gone = await page.waitForSelector(list!)
      await page.evaluate(`location.hash = '#/${next}'`)
      await gone.waitForElementState('hidden')
      await gone.evaluate(element => element.dispatchEvent(new Event('scroll')))
    }
    assert.deepEqual(errors, [])
  })

  test('lists 10,000 events with a few rows in the document, and opens one of a megabyte', async () => {
    const { page, errors } = await reuse(daemon().ready.inspector)
    await page.evaluate(`location.hash = '#/events'`)
    await page.getByRole('heading', { name: 'Events' }).waitFor()
    // What a daemon would answer under load, without loading this machine: the page cannot tell the difference.
    let sent = false
    await page.route('**/control/v1/live?**', async route => {
      const response = await route.fetch()
      const body = await response.json()
      if (!sent) {
        const large = 'y'.repeat(1_000_000)
        const base = body.events_cursor
        body.events = Array.from({ length: 10_000 }, (_, n) => ({
          id: base + n + 1,
          time: body.clock.now,
          to: [2],
          position: n,
          queues: [],
          event: { type: 'many', n, ...(n === 9_999 && { large }) },
        }))
        sent = true
      }
      await route.fulfill({ response, json: body })
    })
    await page.getByLabel('Type').selectOption('many')
    await page.getByText(/^10,000 of /).waitFor()
    assert.ok((await page.locator('.row').count()) < 100)
    await page.getByRole('button', { name: /many/ }).last().click()
    await page.getByRole('button', { name: /Show all 1,000,\d+ characters/ }).waitFor()
    assert.deepEqual(errors, [])
  })
})

describeInBrowser('the inspector of a daemon that is killed', open => {
  test('shows that the daemon is away, goes on when it is back, and misses no message', async t => {
    const data = mkdtempSync(join(tmpdir(), 'natter-test-'))
    const flags = ['--preset', 'dev', '--control', '--port', String(await freePort())]
    let daemon = await launch(data, { flags })
    t.after(async () => {
      await daemon.kill()
      rmSync(data, { recursive: true, force: true })
    })
    const { page, errors } = await open(daemon.ready.inspector)
    await page.getByText('Hello, everyone!').waitFor()
    await daemon.kill()
    await page.getByRole('alert').filter({ hasText: 'The daemon does not answer' }).waitFor()
    daemon = await launch(data, { flags })
    await daemon.owner.call(messages.send, { type: 'stream', to: 'general', topic: 'back', content: 'after the crash' })
    await page.getByRole('article').filter({ hasText: 'after the crash' }).waitFor()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    assert.deepEqual(errors, [])
  })

  test('shows what it can of an older daemon', async t => {
    const data = mkdtempSync(join(tmpdir(), 'natter-test-'))
    const daemon = await launch(data, { flags: ['--memory', '--preset', 'dev'] })
    t.after(async () => {
      await daemon.kill()
      rmSync(data, { recursive: true, force: true })
    })
    const { page, errors } = await open('about:blank')
    const missing = {
      status: 404,
      json: { result: 'error', msg: 'There is no endpoint at this path.', code: 'BAD_REQUEST' },
    }
    for (const path of ['live', 'rules', 'clock/due', 'why', 'spaces'])
      await page.route(`**/control/v1/${path}**`, route => route.fulfill(missing))
    await page.goto(daemon.ready.inspector)
    await page.getByText('Hello, everyone!').waitFor()
    for (const view of ['events', 'time', 'world', 'health']) {
      await page.evaluate(`location.hash = '#/${view}'`)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
    }
    assert.deepEqual(errors, [])
  })
})
