// The view of the world: accounts, groups, channels, snapshots, spaces, mails, webhooks and drift.

import { useSignal } from '@preact/signals'
import type { Channel } from '../chat/records.ts'
import { openDirect } from '../chat/sidebar.tsx'
import { channels, users } from '../chat/store.ts'
import { Button, bind, set } from '../parts/basics.tsx'
import { attempt, copy, Icon, useFresh } from '../parts/controls.tsx'
import { Table } from '../parts/table.tsx'
import { route, writeHref } from '../route.ts'
import { accounts, actAs, control, isControlled } from '../session.ts'
import { Drift } from './drift.tsx'
import { Groups } from './groups.tsx'
import { Mails, Webhooks } from './outgoing.tsx'
import { Snapshots } from './snapshots.tsx'
import { openSpace, type Space } from './spaces.tsx'

const tabs = {
  accounts: ['Accounts', Accounts],
  groups: ['Groups', Groups],
  channels: ['Channels', Channels],
  snapshots: ['Snapshots', Snapshots],
  spaces: ['Spaces', Spaces],
  mails: ['Mails', Mails],
  webhooks: ['Webhooks', Webhooks],
  drift: ['Drift', Drift],
} as const

const withoutControl = ['accounts', 'groups', 'channels']

export function World() {
  const wanted = route.value.rest[0] ?? 'accounts'
  const names = (Object.keys(tabs) as (keyof typeof tabs)[]).filter(
    name => isControlled.value || withoutControl.includes(name),
  )
  const chosen = names.find(name => name === wanted) ?? 'accounts'
  const [title, Tab] = tabs[chosen]
  return (
    <div class="page">
      <nav class="subtabs" aria-label="Parts of the world">
        {names.map(name => (
          <a key={name} href={writeHref('world', name)} aria-current={name === chosen ? 'page' : undefined}>
            {tabs[name][0]}
          </a>
        ))}
      </nav>
      <h1>{title}</h1>
      <Tab />
    </div>
  )
}

const roleNames: Readonly<Record<number, string>> = {
  100: 'owner',
  200: 'administrator',
  300: 'moderator',
  400: 'member',
  600: 'guest',
}

function roleName({ role }: { readonly role: number }): string {
  return roleNames[role] ?? String(role)
}

function Accounts() {
  const shown = useSignal<number | undefined>(undefined)
  const keys = new Map(accounts.value.map(account => [account.user_id, account]))
  return (
    <Table
      label="Accounts"
      heads={['Name', 'Email', 'Role', 'ID', ...(isControlled.value ? ['API key'] : []), 'Actions']}
      numbers={['ID']}
    >
      {[...users.value.values()].map(user => {
        const account = keys.get(user.user_id)
        return (
          <tr key={user.user_id}>
            <td>
              <b>{user.full_name}</b>
            </td>
            <td>{user.email}</td>
            <td>
              {user.is_bot ? 'bot' : roleName(user)}
              {user.is_active === false && ', deactivated'}
            </td>
            <td class="number">{user.user_id}</td>
            {isControlled.value && (
              <td>
                {account &&
                  (shown.value === user.user_id ? (
                    <span class="secret">
                      <code>{account.api_key}</code>
                      <Button look="small" onClick={() => copy(account.api_key)}>
                        <Icon name="copy" />
                        Copy
                      </Button>
                    </span>
                  ) : (
                    <Button look="small" onClick={() => set(shown, user.user_id)}>
                      Show key
                    </Button>
                  ))}
              </td>
            )}
            <td>
              <Button look="small" onClick={() => openDirect([user.user_id])}>
                Message
              </Button>{' '}
              {account && isControlled.value && (
                <Button look="small" onClick={() => actAs(account)}>
                  Act as
                </Button>
              )}
            </td>
          </tr>
        )
      })}
    </Table>
  )
}

/** Rows shown at first. */
const shownChannels = 200

function Channels() {
  const open = useSignal<number | undefined>(undefined)
  const text = useSignal('')
  const wanted = text.value.toLowerCase()
  const found = [...channels.value.values()].filter(({ name }) => name.toLowerCase().includes(wanted))
  return (
    <>
      <input
        class="input"
        type="search"
        data-slash
        aria-label="Filter channels"
        placeholder="Filter channels"
        {...bind(text)}
      />
      <Table label="Channels" heads={['Name', 'Kind', 'Description', 'Settings']}>
        {found.slice(0, shownChannels).map(channel => (
          <ChannelRow
            key={channel.stream_id}
            channel={channel}
            open={open.value === channel.stream_id}
            toggle={() => set(open, open.value === channel.stream_id ? undefined : channel.stream_id)}
          />
        ))}
      </Table>
      {found.length > shownChannels && <p class="faint">{found.length - shownChannels} more: use the filter.</p>}
    </>
  )
}

function ChannelRow({ channel, open, toggle }: { channel: Channel; open: boolean; toggle: () => void }) {
  const { stream_id, name, description, invite_only, is_web_public, is_archived } = channel
  const kind = invite_only ? 'private' : is_web_public ? 'web-public' : 'public'
  const settings = Object.entries(channel).filter(
    ([field]) => !['name', 'description', 'rendered_description', 'stream_id'].includes(field),
  )
  return (
    <>
      <tr>
        <td>
          <a href={writeHref('conversations', 'channel', stream_id)}>#{name}</a>
        </td>
        <td>
          {kind}
          {is_archived && ', archived'}
        </td>
        <td class="text">{description}</td>
        <td>
          <Button look="small" aria-expanded={open} onClick={toggle}>
            {open ? 'Hide' : 'Show'}
          </Button>
        </td>
      </tr>
      {open && (
        <tr>
          <td colSpan={4}>
            <dl class="settings">
              {settings.map(([field, value]) => (
                <div key={field}>
                  <dt>{field}</dt>
                  <dd>{JSON.stringify(value)}</dd>
                </div>
              ))}
            </dl>
          </td>
        </tr>
      )}
    </>
  )
}

function Spaces() {
  const { value, problem, reload } = useFresh<readonly Space[]>(async () => (await control('GET', '/spaces')).spaces)
  const name = useSignal('')
  if (problem) return <p class="empty">{problem}</p>
  const create = async (event: Event) => {
    event.preventDefault()
    if (await attempt(() => control('POST', '/spaces', { name: name.value, preset: 'dev' }), 'Created.'))
      name.value = ''
    await reload()
  }
  const remove = async (space: string) => {
    await attempt(() => control('DELETE', `/spaces/${encodeURIComponent(space)}`), 'Deleted.')
    await reload()
  }
  return (
    <>
      <form class="toolbar" onSubmit={create}>
        <input class="input" aria-label="Name of the new space" placeholder="name (optional)" {...bind(name)} />
        <Button type="submit" look="primary">
          Create with the dev preset
        </Button>
      </form>
      <Table label="Spaces" heads={['Name', 'URL', 'Actions']}>
        {(value ?? []).map(space => (
          <tr key={space.name}>
            <td>
              <b>{space.name}</b>
            </td>
            <td>{space.ended ? `ended by a defect: ${space.ended}` : space.url}</td>
            <td>
              <Button look="small" disabled={Boolean(space.ended)} onClick={() => openSpace(space)}>
                Open
              </Button>{' '}
              <Button look="small" onClick={() => remove(space.name)}>
                Delete
              </Button>
            </td>
          </tr>
        ))}
      </Table>
      {value?.length === 0 && <p class="empty">No spaces.</p>}
    </>
  )
}
