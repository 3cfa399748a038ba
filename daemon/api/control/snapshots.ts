// States of the daemon to go back to: the one it started with, and those saved by name.

import { Type } from '@sinclair/typebox'
import { bool, endpoint, inPath, listOf, record, required, text } from '../define.ts'
import { clockReply, milliseconds } from '../shapes/control.ts'

const snapshot = record({ name: text, time: milliseconds })

const name = Type.String({ maxLength: 100 })

export const snapshots = {
  reset: endpoint({
    id: 'reset',
    method: 'POST',
    path: '/reset',
    access: 'control',
    since: 1,
    summary: 'Put the daemon back to its start: seed, clock, no faults, empty logs, no event queues',
    params: {},
    reply: clockReply,
    refusals: [],
    cli: {
      name: 'reset',
      destroys: { question: 'Delete everything that this daemon keeps on disk?', when: 'kept' },
      examples: ['natter reset', 'natter reset --ready-file ready.json --json', 'natter reset --yes'],
    },
  }),
  list: endpoint({
    id: 'list-snapshots',
    method: 'GET',
    path: '/snapshots',
    access: 'control',
    since: 1,
    summary: 'List saved snapshots; kept says whether the daemon has a store on disk',
    params: {},
    reply: { snapshots: listOf(snapshot), kept: bool },
    refusals: [],
    cli: {
      name: 'snapshot list',
      examples: ['natter snapshot list', 'natter snapshot list --json'],
      shows: 'snapshots',
    },
  }),
  save: endpoint({
    id: 'save-snapshot',
    method: 'POST',
    path: '/snapshots',
    access: 'control',
    since: 1,
    summary: 'Save the state of the daemon under a name, in its memory',
    params: { name: required(name, 'letters, digits, dots, dashes and underscores; an existing one is replaced') },
    reply: { snapshot },
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'snapshot save',
      args: ['name'],
      examples: ['natter snapshot save before', 'natter snapshot save before --json'],
      shows: 'snapshot',
    },
  }),
  restore: endpoint({
    id: 'restore-snapshot',
    method: 'POST',
    path: '/snapshots/{name}/restore',
    access: 'control',
    since: 1,
    summary: 'Go back to a saved snapshot; event queues are removed',
    params: { name: inPath(name, 'the snapshot') },
    reply: clockReply,
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'snapshot restore',
      args: ['name'],
      examples: ['natter snapshot restore before', 'natter snapshot restore before --json'],
    },
  }),
  remove: endpoint({
    id: 'remove-snapshot',
    method: 'DELETE',
    path: '/snapshots/{name}',
    access: 'control',
    since: 1,
    summary: 'Remove a saved snapshot',
    params: { name: inPath(name, 'the snapshot') },
    reply: {},
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'snapshot remove',
      args: ['name'],
      examples: ['natter snapshot remove before', 'natter snapshot remove before --json'],
    },
  }),
}
