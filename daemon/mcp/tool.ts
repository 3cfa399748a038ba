// The parts of a tool. Tools are plain data with a function, so that the server, the docs and the tests read the same.

import type { Static, TObject } from '@sinclair/typebox'
import type { Impact } from '../api/impact.ts'
import type { Chat } from './chat.ts'

export const toolsets = ['read', 'write', 'control', 'api'] as const
export type Toolset = (typeof toolsets)[number]

/** What one call of a tool can use. */
export interface ToolCall {
  readonly chat: Chat
  /** Aborted when the client cancels the call or disconnects. */
  readonly signal: AbortSignal
  /** Tells a client that asked for it how far the call is. */
  progress(done: number, total: number, text: string): Promise<void>
}

export interface ToolResult {
  /** For people and models. */
  readonly text: string
  /** The same for programs; it has the shape that the tool declares. */
  readonly data: Readonly<Record<string, unknown>>
}

export interface Tool {
  readonly name: string
  readonly toolset: Toolset
  readonly title: string
  readonly description: string
  readonly input: TObject
  readonly output: TObject
  /** What a call can change: nothing, something, or something that cannot be brought back. */
  readonly impact: Impact
  /** Whether a second call with the same arguments changes nothing more. */
  readonly idempotent?: boolean
  run(call: ToolCall, args: Readonly<Record<string, unknown>>): Promise<ToolResult>
}

/** Keeps the type of the arguments for the function. */
export function tool<I extends TObject, O extends TObject>(definition: TypedTool<I, O>): Tool {
  return definition as unknown as Tool
}

interface TypedTool<I extends TObject, O extends TObject> extends Omit<Tool, 'run'> {
  readonly input: I
  readonly output: O
  readonly run: (call: ToolCall, args: Static<I>) => Promise<{ readonly text: string; readonly data: Static<O> }>
}
