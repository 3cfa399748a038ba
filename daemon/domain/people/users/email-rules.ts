// Which addresses the organization takes for people: by its domains, and none that are made to be thrown away.

import { organizationSetting } from '../../model/settings.ts'
import type { State } from '../../model/state.ts'

/** Why the address cannot be somebody's here, or undefined when it can. */
export function emailProblem(state: State, email: string): string | undefined {
  const at = email.lastIndexOf('@')
  const host = email.slice(at + 1).toLowerCase()
  if (!organizationSetting(state, 'emails_restricted_to_domains'))
    return organizationSetting(state, 'disallow_disposable_email_addresses') && isDisposable(host)
      ? 'disposable addresses are not allowed in this organization'
      : undefined
  // One mailbox would pass for any number of people.
  if (email.slice(0, at).includes('+')) return 'addresses with + are not allowed in this organization'
  return isInDomains(state, host) ? undefined : 'the address is outside the domains of this organization'
}

function isInDomains(state: State, host: string): boolean {
  for (const { domain, allowSubdomains } of state.domains.values())
    if (host === domain || (allowSubdomains && host.endsWith(`.${domain}`))) return true
  return false
}

function isDisposable(host: string): boolean {
  const labels = host.split('.')
  return labels.some((_, index) => disposable.has(labels.slice(index).join('.')))
}

/** OPEN: which domains are disposable is not shown. These are the well-known ones; their subdomains count too. */
const disposable: ReadonlySet<string> = new Set(
  `0-mail.com 10minutemail.com 10minutemail.net 20minutemail.com 33mail.com anonbox.net burnermail.io byom.de
  discard.email discardmail.com dispostable.com dropmail.me emailondeck.com fakeinbox.com fakemail.net filzmail.com
  getairmail.com getnada.com grr.la guerrillamail.biz guerrillamail.com guerrillamail.de guerrillamail.info
  guerrillamail.net guerrillamail.org guerrillamailblock.com incognitomail.com inboxkitten.com jetable.org
  mail-temp.com mail.tm mailcatch.com maildrop.cc mailexpire.com mailinator.com mailinator.net mailinator2.com
  mailnesia.com mailnull.com mailsac.com mailtemp.info meltmail.com minutemail.com mintemail.com moakt.com mohmal.com
  mytemp.email mytrashmail.com nada.email nowmymail.com one-time.email owlymail.com pokemail.net sharklasers.com
  sneakemail.com sogetthis.com spam4.me spambog.com spambox.us spamex.com spamfree24.org spamgourmet.com
  spamherelots.com temp-mail.io temp-mail.org tempail.com tempemail.com tempinbox.com tempmail.com tempmail.dev
  tempmail.net tempmailaddress.com tempmailo.com tempr.email thisisnotmyrealemail.com throwaway.email
  throwawaymail.com trash-mail.com trashmail.com trashmail.de trashmail.net trashmail.ws trbvm.com wegwerfemail.de
  wegwerfmail.de yopmail.com yopmail.fr yopmail.net zoemail.org`.split(/\s+/),
)
