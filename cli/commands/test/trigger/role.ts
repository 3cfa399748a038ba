// The accounts that take part in a trigger.

/**
 * `me` is the account that `--for` names, `other` a colleague, `owner` the owner of the organization, and `newcomer` an account
 * that is created for the purpose.
 */
export type Role = 'me' | 'other' | 'owner' | 'newcomer'
