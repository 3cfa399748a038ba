// Defaults that people expect, as pure functions of an endpoint and its given params.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { everydayFlags, fillIn } from '../../cli/catalogue/everyday.ts'
import { buildForm, encodeRequest } from '../../cli/catalogue/forms.ts'
import { readParams } from '../../cli/catalogue/params.ts'
import type { Given, Sources } from '../../cli/input/flags.ts'
import * as d from '../../daemon/api/define.ts'
import { drafts } from '../../daemon/api/messages/drafts.ts'

const sources: Sources = {
  names: {
    find: async (kind, name) => (kind === 'user' ? (/^\d+$/.test(name) ? Number(name) : 8) : 5),
    channelName: async () => 'lunch',
  },
  now: async () => new Date(),
  stdin: async () => '',
  secret: async () => '',
}

const send = d.endpoint({
  id: 'send-message',
  route: 'POST /messages',
  summary: 'Send',
  params: {
    type: d.required(d.oneOf('direct', 'channel', 'stream', 'private'), ''),
    to: d.optional(d.eitherOf(d.int, d.listOf(d.eitherOf(d.int, d.text)), d.text), ''),
    content: d.required(d.markdown, ''),
  },
  reply: {},
  refusals: [],
  cli: { name: 'send', args: ['content'], examples: ['natter send a', 'natter send b'] },
})

const list = d.endpoint({
  ...send,
  id: 'get-messages',
  route: 'GET /messages',
  params: {
    anchor: d.optional(d.text, ''),
    num_before: d.optional(d.natural, ''),
    narrow: d.optional(d.termsOf(d.anything), ''),
    apply_markdown: d.defaulted(d.bool, true, ''),
  },
  cli: { ...send.cli, history: true, defaults: { apply_markdown: false } },
})

const filled = async (endpoint: d.Endpoint, given: Record<string, Given>) =>
  (await fillIn(endpoint, new Map(Object.entries(given)), sources)).values

test('the recipient decides the type of a message', async () => {
  assert.deepEqual(
    everydayFlags(send).map(flag => flag.name),
    ['channel'],
  )
  assert.deepEqual(await filled(send, { '@channel': '#general' }), { type: 'channel', to: 'general' })
  assert.deepEqual(await filled(send, { '@channel': 'id:5' }), { type: 'channel', to: 5 })
  assert.deepEqual(await filled(send, { to: 'amy@example.com,bob@example.com' }), {
    type: 'direct',
    to: ['amy@example.com', 'bob@example.com'],
  })
  assert.deepEqual(await filled(send, { to: '9,10' }), { type: 'direct', to: [9, 10] })
  assert.deepEqual(await filled(send, { to: 'Amy Adams,9' }), { type: 'direct', to: [8, 9] })
  assert.deepEqual(await filled(send, { type: 'channel', to: 'general' }), {})
  await assert.rejects(filled(send, { '@channel': 'a', to: 'b' }), /cannot be combined/)
  await assert.rejects(filled(send, {}), /no recipient given/)
})

test('messages list shows the newest messages, in Markdown', async () => {
  const values = await filled(list, { '@channel': 'general', '@search': 'pizza', narrow: ['is:starred'] })
  assert.deepEqual(values, {
    anchor: 'newest',
    num_before: 20,
    apply_markdown: false,
    narrow: [
      { operator: 'is', operand: 'starred' },
      { operator: 'channel', operand: 'general' },
      { operator: 'search', operand: 'pizza' },
    ],
  })
  assert.deepEqual(await filled(list, { anchor: '7', apply_markdown: true }), {})
})

test('the first word is the recipient: a channel and its topic, or people', async () => {
  const form = (given: Record<string, Given>, piped = false) =>
    fillIn(send, new Map(Object.entries(given)), { ...sources, piped }).then(({ given, values }) => ({
      ...Object.fromEntries(given),
      ...values,
    }))
  const lunch = { type: 'channel', to: 'general', topic: 'lunch', content: 'x' }
  assert.deepEqual(await form({ '@place': '#general>lunch', content: 'x' }), lunch)
  assert.deepEqual(await form({ '@place': '#general > lunch', content: 'x' }), lunch)
  assert.deepEqual(await form({ '@place': '#general', topic: 'lunch', content: 'x' }), lunch)
  assert.deepEqual(await form({ '@place': 'x', '@channel': 'general', topic: 'lunch' }), lunch)
  assert.deepEqual(await form({ '@place': '#general>lunch' }, true), { ...lunch, content: '-' })
  assert.deepEqual(await form({ '@place': '#5>lunch', content: 'x' }), { ...lunch, to: 5 })
  assert.deepEqual(await form({ '@place': '#general>', content: 'x' }), { ...lunch, topic: '' })
  const both = ['amy@example.com', 'bob@example.com']
  assert.deepEqual(await form({ '@place': both.join(','), content: 'x' }), { type: 'direct', to: both, content: 'x' })
  assert.deepEqual(await form({ '@place': 'Amy Adams', content: 'x' }), { type: 'direct', to: [8], content: 'x' })
  await assert.rejects(form({ '@place': 'hello' }, true), /no recipient given/)
  await assert.rejects(
    form({ '@place': '#general>lunch', content: 'x', topic: 'y' }),
    /--topic both name the recipient/,
  )
  await assert.rejects(form({ '@place': '#general>lunch', content: 'x', to: 'y' }), /--to both name the recipient/)
})

test('-n sets the number of messages', async () => {
  assert.equal((await filled(list, { '@lines': '3' })).num_before, 3)
  assert.deepEqual(await filled(list, { '@lines': '3', anchor: '7', apply_markdown: true }), {
    num_before: 3,
  })
  const { num_after, num_before } = await filled(list, { '@lines': '3', anchor: 'oldest' })
  assert.deepEqual([num_before, num_after], [undefined, 3])
  assert.equal((await filled(list, { anchor: 'first_unread' })).num_after, 20)
  assert.equal((await filled(list, { num_after: '5' })).anchor, 'oldest')
  assert.equal((await filled(list, { num_after: '5', num_before: '5' })).anchor, 'newest')
  await assert.rejects(filled(list, { '@lines': 'x' }), /--lines: "x" is not/)
  await assert.rejects(filled(list, { '@lines': '3', num_before: '4' }), /cannot be combined with --before/)
})

test('a draft is written like a message, or given as JSON', async () => {
  const made = async (endpoint: d.Endpoint, given: Record<string, Given>) => {
    const form = buildForm(endpoint)
    return Object.fromEntries(
      encodeRequest(form, await readParams(form, new Map(Object.entries(given)), sources)).fields,
    )
  }
  const draft = (text: unknown) => JSON.parse(String(text))
  const inChannel = { type: 'stream', to: [5], topic: 'lunch', content: 'x' }
  const { create, edit } = drafts
  const place = '#general>lunch'
  assert.deepEqual(draft((await made(create, { '@place': place, content: 'x' })).drafts), [inChannel])
  assert.deepEqual(draft((await made(create, { '@channel': 'general', topic: 'lunch', '@place': 'x' })).drafts), [
    inChannel,
  ])
  assert.deepEqual(draft((await made(create, { '@place': 'amy@example.com', content: 'x' })).drafts), [
    { type: 'private', to: [8], topic: '', content: 'x' },
  ])
  const nowhere = { type: '', to: [], topic: '', content: 'Later' }
  assert.deepEqual(draft((await made(create, { '@place': 'Later' })).drafts), [nowhere])
  assert.deepEqual(draft((await made(create, { '@place': JSON.stringify([nowhere]) })).drafts), [nowhere])
  assert.deepEqual(draft((await made(edit, { draft_id: '3', '@place': place, content: 'x' })).draft), inChannel)
  assert.deepEqual(draft((await made(edit, { draft_id: '3', '@place': JSON.stringify(nowhere) })).draft), nowhere)
  await assert.rejects(made(edit, { draft_id: '3', '@place': 'Later' }), /no recipient given/)
})

test('an edit without any change is wrong usage', async () => {
  const { update } = (await import('../../daemon/api/channels/channels.ts')).channels
  await assert.rejects(readParams(update, new Map([['stream_id', 'general']]), sources), /nothing to change/)
})
