// The error of a call between threads: a copy of an Error has lost its class and its fields, so it travels as these.

import { type Caller, NatterError } from '../../../daemon/client/sender.ts'

export type PackedError =
  | Pick<NatterError, 'status' | 'body' | 'kind' | 'parameter'>
  | { readonly name: string; readonly message: string }

export function packError(error: Error): PackedError {
  if (!(error instanceof NatterError)) return { name: error.name, message: error.message }
  const { status, body, kind, parameter } = error
  return { status, body, kind, parameter }
}

/** The same error, made by the line of the handler that made the call. `call`: such as `POST /messages`. */
export function unpackError(packed: PackedError, call: string, caller: Caller): Error {
  if ('status' in packed)
    return new NatterError(packed.status, packed.body, packed.kind, call, caller, packed.parameter)
  const { name, message } = packed
  const stack = caller.stack?.replace(/^.*/, () => `${name}: ${message}`)
  return Object.assign(new Error(message), { name, stack })
}
