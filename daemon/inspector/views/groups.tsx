// Groups, who is in them, and what they may do: the settings that name a group, with the rules that read them.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ReadonlyOf, ReplyOf } from '../../api/define.ts'
import type { userGroups } from '../../api/people/user-groups.ts'
import type { groupValue } from '../../api/shapes/permission-settings.ts'
import { users } from '../chat/store.ts'
import { set } from '../parts/basics.tsx'
import { Table } from '../parts/table.tsx'
import { actor, call, control, isControlled } from '../session.ts'

type Group = ReplyOf<typeof userGroups.list>['user_groups'][number]
type GroupValue = ReadonlyOf<typeof groupValue>

interface Found {
  readonly groups: readonly Group[]
  /** Settings of the organization whose value is a group. */
  readonly settings: readonly (readonly [string, GroupValue])[]
  readonly laws: readonly string[]
}

const shownNames = 6

export function Groups() {
  const found = useSignal<Found | undefined>(undefined)
  useEffect(() => {
    void load().then(
      result => set(found, result),
      () => {},
    )
  }, [actor.value])
  if (!found.value) return <p class="empty">Loading…</p>
  const { groups, settings, laws } = found.value
  return (
    <Table label="Groups" heads={['Group', 'Members', 'Includes', 'May, in this organization']}>
      {groups.map(({ id, name, description, members, direct_subgroup_ids, is_system_group }) => (
        <tr key={id}>
          <td>
            <b>{is_system_group ? name.replace('role:', '') : name}</b>
            {is_system_group && <span class="tag">system</span>}
            <br />
            <span class="faint">{description}</span>
          </td>
          <td>{listNames(members)}</td>
          <td>
            {direct_subgroup_ids
              .map(one => groups.find(group => group.id === one)?.name.replace('role:', '') ?? one)
              .join(', ')}
          </td>
          <td class="text">
            <ul class="laws">
              {settings
                .filter(([, value]) => isNamed(value, id))
                .map(([setting]) => (
                  <li key={setting} title={laws.filter(law => law.includes(setting)).join('\n')}>
                    {inWords(setting)}
                    {laws
                      .filter(law => law.includes(setting))
                      .slice(0, 1)
                      .map(law => (
                        <span key={law} class="faint">
                          {' '}
                          {law}
                        </span>
                      ))}
                  </li>
                ))}
            </ul>
          </td>
        </tr>
      ))}
    </Table>
  )
}

async function load(): Promise<Found> {
  const [{ user_groups }, reply, rules] = await Promise.all([
    call('GET', '/user_groups'),
    call('POST', '/register', { fetch_event_types: ['realm'], event_types: ['restart'] }),
    isControlled.value ? control('GET', '/rules') : { rules: [] },
  ])
  void call('DELETE', '/events', { queue_id: reply.queue_id }).catch(() => {})
  const settings = Object.entries(reply)
    .filter(([name]) => /^realm_.*_group$/.test(name))
    .map(([name, value]): [string, GroupValue] => [name.replace('realm_', ''), value as GroupValue])
  return { groups: user_groups, settings, laws: rules.rules.map(({ law }: { law: string }) => law) }
}

function isNamed(value: GroupValue, id: number): boolean {
  return typeof value === 'number' ? value === id : value.direct_subgroups.includes(id)
}

/** `can_add_custom_emoji_group` is "add custom emoji". */
function inWords(setting: string): string {
  return setting.replace(/^can_|_group$/g, '').replaceAll('_', ' ')
}

function listNames(ids: readonly number[]): string {
  const names = ids.slice(0, shownNames).map(id => users.value.get(id)?.full_name ?? `user ${id}`)
  return names.join(', ') + (ids.length > shownNames ? ` and ${ids.length - shownNames} more` : '')
}
