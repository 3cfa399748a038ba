// The files of `natter init eval`: three cases, and a scripted agent that solves them.

const question = `# The agent is asked in a channel and answers there.
name: question
preset: dev
as: amy@example.com
task: "What is 6 times 7? Answer in #general > numbers with the number only."
message: { from: ada@example.com, channel: general, topic: numbers }
expect:
  messages:
    - { channel: general, topic: numbers, sender: amy@example.com, content: /^\\s*42\\s*$/, count: 1 }
  no_messages:
    - { sender: amy@example.com, topic: hello }
  no_calls: [delete-*, update-message]
budget: { seconds: 60, calls: 20 }
`

const reaction = `# The agent finds a message and reacts to it, and changes nothing else.
name: reaction
preset: dev
as: amy@example.com
task: "React with :tada: to the message of Ada Admin in #general > hello."
expect:
  messages:
    - { reaction: tada, count: 1 }
  only_changes: [messages]
budget: { seconds: 60, calls: 20 }
`

const channel = `# The agent makes a place and says why it is there.
name: channel
preset: dev
as: amy@example.com
task: "Create the channel retro and send 'What went well?' to its topic start."
expect:
  messages:
    - { channel: retro, topic: start, sender: amy@example.com, content: "What went well?" }
  changes:
    - { resource: channels, kind: added, with: { name: /retro/ } }
  no_calls: [delete-*]
budget: { seconds: 60, calls: 20 }
`

const agent = `// A scripted agent: it knows three tasks. Replace it by yours; it gets the task in NATTER_TASK and the server in NATTER_SITE.

const { NATTER_SITE: site, NATTER_EMAIL: email, NATTER_API_KEY: key, NATTER_TASK: task } = process.env

async function call(method, path, params = {}) {
  const fields = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) fields.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  const query = method === 'GET' ? \`?\${fields}\` : ''
  const response = await fetch(site + '/api/v1' + path + query, {
    method,
    headers: { Authorization: \`Basic \${btoa(\`\${email}:\${key}\`)}\` },
    ...(method !== 'GET' && { body: fields }),
  })
  const reply = await response.json()
  if (reply.result !== 'success') throw new Error(reply.msg)
  return reply
}

const send = (channel, topic, content) => call('POST', '/messages', { type: 'channel', to: channel, topic, content })

if (task.includes('6 times 7')) await send('general', 'numbers', '42')
else if (task.includes(':tada:')) {
  const narrow = [
    { operator: 'channel', operand: 'general' },
    { operator: 'topic', operand: 'hello' },
    { operator: 'sender', operand: 'ada@example.com' },
  ]
  const { messages } = await call('GET', '/messages', { anchor: 'oldest', num_before: 0, num_after: 1, narrow })
  await call('POST', \`/messages/\${messages[0].id}/reactions\`, { emoji_name: 'tada' })
} else if (task.includes('retro')) {
  await call('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'retro' }] })
  await send('retro', 'start', 'What went well?')
} else throw new Error(\`I do not know this task: \${task}\`)
`

export const evalFiles = {
  'cases/question.yaml': question,
  'cases/reaction.yaml': reaction,
  'cases/channel.yaml': channel,
  'agent.mjs': agent,
}
