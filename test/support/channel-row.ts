// A channel's row for tests that make their state by hand: public, open, with default permissions.

import { channelPermissions } from '../../daemon/api/shapes/permission-settings.ts'
import type { Channel, State } from '../../daemon/domain/model/state.ts'
import { defaultValue } from '../../daemon/domain/rules/group-values.ts'

export function channelRow(state: State, id: number, more: Partial<Channel> = {}): Channel {
  const creatorId = more.creatorId ?? null
  const permissions = Object.fromEntries(
    Object.entries(channelPermissions).map(([name, setting]) => [name, defaultValue(state, setting, creatorId)]),
  ) as Channel['permissions']
  return {
    id,
    name: `channel ${id}`,
    description: '',
    creatorId,
    dateCreated: 0,
    inviteOnly: false,
    webPublic: false,
    historyPublic: true,
    archived: false,
    isDefault: false,
    retentionDays: null,
    topicsPolicy: 'inherit',
    folderId: null,
    permissions,
    ...more,
  }
}
