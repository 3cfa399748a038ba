// Whether a daemon of a cluster has what the others have answered, as it says itself. One that is cut off or paused does not, and a
// backup of its folder would be older than it seems.

import { get } from 'node:http'
import { get as getSecurely } from 'node:https'
import { refuseUpgrade } from '../local/refuse-upgrade.ts'

const answerMs = 5000

/** False also for a daemon that does not answer. */
export function isReady(url: string): Promise<boolean> {
  const send = url.startsWith('https:') ? getSecurely : get
  // The certificate names what clients call the daemon, and this may be another name of the same machine.
  const options = { signal: AbortSignal.timeout(answerMs), rejectUnauthorized: false }
  return new Promise(resolve => {
    const outgoing = send(`${url}/readyz`, options, response => {
      response.destroy()
      resolve(response.statusCode === 200)
    })
    outgoing.on('error', () => resolve(false))
    refuseUpgrade(outgoing, () => resolve(false))
  })
}
