// What a store for measuring messages holds, for those who fill it and those who ask it.

export interface Plan {
  readonly folder: string
  /** Besides the owner. */
  readonly subscribers: number
  readonly messages: number
  readonly topics: number
  /** Groups, each in the next one; the owner is in the innermost. */
  readonly nested?: number
}

export const channelName = 'load'

export function contentOf(n: number): string {
  return `Message number ${n}: the build of **branch ${n % 97}** is done, see the log when you have a minute. Thanks!`
}
