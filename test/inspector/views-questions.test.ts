// "Why?" and the difference of snapshots in the inspector, in a real browser against a real daemon.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { channels } from '../../daemon/api/channels/channels.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { describeInBrowser, type Opened } from '../support/browser.ts'
import { Control } from '../support/control.ts'
import { Caller, sharedDaemon } from '../support/daemon.ts'

describeInBrowser('the inspector explains', (_, reuse) => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })
  const control = () => new Control(daemon())
  async function visit(view: string): Promise<Opened> {
    const opened = await reuse(daemon().ready.inspector)
    await opened.page.evaluate(`location.hash = '#/${view}'`)
    return opened
  }

  test('why an account received a message, and why a call was refused', async () => {
    const { account } = await control().call('GET', '/accounts/amy')
    const amy = new Caller(daemon().url, account.email, account.api_key, account.user_id)
    const { page, errors } = await visit('conversations')
    await page.getByText('Hello, everyone!').waitFor()
    const article = page.getByRole('article').filter({ hasText: 'explain me' })
    await amy.call(messages.send, { type: 'stream', to: 'general', topic: 'why', content: 'explain me' })
    await article.waitFor()
    await article.hover()
    await article.getByRole('button', { name: 'Why?' }).click()
    const dialog = page.getByRole('dialog')
    await dialog
      .getByText(/received message \d+/)
      .first()
      .waitFor()
    await dialog.getByRole('listitem').filter({ hasText: 'subscription' }).waitFor()
    await page.keyboard.press('Escape')

    await amy.try(messages.send, { type: 'stream', to: 'leads', topic: 'x', content: 'y' })
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Calls' }).click()
    await page
      .getByRole('button', { name: /400 POST \/messages/ })
      .last()
      .click()
    await page.getByRole('complementary', { name: 'Call' }).getByRole('button', { name: /Why/ }).click()
    await dialog.getByText(/The channel "leads" exists, but the rules hide it/).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    assert.deepEqual(errors, [])
  })

  test('a poll, with votes as they come', async () => {
    const { page, errors } = await visit('conversations')
    await page.getByText('Hello, everyone!').waitFor()
    const poll = { type: 'stream', to: 'general', topic: 'poll', content: '/poll Which soup?\nTomato\nOnion' } as const
    const { id: message_id } = await daemon().owner.call(messages.send, poll)
    const article = page.getByRole('article').filter({ hasText: 'Which soup?' })
    await article.getByRole('listitem').filter({ hasText: 'Onion: 0 votes' }).waitFor()
    const content = '{"type":"vote","key":"canned,1","vote":1}'
    await daemon().owner.call(messages.submessage, { message_id, msg_type: 'widget', content })
    await article.getByRole('listitem').filter({ hasText: 'Onion: 1 vote' }).waitFor()
    assert.deepEqual(errors, [])
  })

  test('a to-do list, with tasks that are done, under the name of its conversation', async () => {
    const { page, errors } = await visit('conversations')
    await page.getByText('Hello, everyone!').waitFor()
    const list = {
      type: 'stream',
      to: 'general',
      topic: 'shop',
      content: '/todo Shopping\nBread\nMilk: two litres',
    } as const
    const { id: message_id } = await daemon().owner.call(messages.send, list)
    const article = page.getByRole('article').filter({ hasText: 'Shopping' })
    await article
      .getByRole('listitem')
      .filter({ hasText: /^Milk: two litres$/ })
      .waitFor()
    const content = '{"type":"strike","key":"1,canned"}'
    await daemon().owner.call(messages.submessage, { message_id, msg_type: 'widget', content })
    await article.getByRole('listitem').filter({ hasText: 'Milk: two litres (done)' }).waitFor()
    await article.getByRole('link', { name: '#general > shop' }).click()
    await page.getByRole('heading', { name: '#general > shop' }).waitFor()
    await page.getByRole('form', { name: 'Write to #general > shop' }).waitFor()
    assert.deepEqual(errors, [])
  })

  test('what differs between a snapshot and now', async () => {
    await control().call('POST', '/snapshots', { name: 'earlier' })
    const { streams } = await daemon().owner.call(channels.list, {})
    const { stream_id, description: before } = streams.find(({ name }) => name === 'general')!
    await daemon().owner.call(channels.update, { stream_id, description: 'described again' })
    await daemon().owner.call(messages.send, { type: 'stream', to: 'general', topic: 'd', content: 'a new one' })
    const { page, errors } = await visit('world/snapshots')
    const form = page.getByRole('form', { name: 'Compare' })
    await form.getByLabel('From').selectOption('earlier')
    await form.getByRole('button', { name: 'Compare' }).click()
    const row = page.getByRole('row', { name: /added messages .* in #general > d/ })
    await row
      .getByRole('region', { name: /^After/ })
      .getByText('a new one')
      .waitFor()
    const renamed = page.getByRole('row', { name: /changed channels/ })
    await renamed
      .getByRole('region', { name: /^Before/ })
      .getByText(before)
      .waitFor()
    await renamed
      .getByRole('region', { name: /^After/ })
      .getByText('described again')
      .waitFor()
    assert.deepEqual(errors, [])
  })
})
