// The certificate of an HTTPS server: reads it from files and checks it, so that mistakes show at the start and not at the first client.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readBytes, smallFile } from '../local/bounded-file.ts'

interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

export interface Certificate {
  readonly cert: Buffer
  readonly key: Buffer
  readonly expires: Date
}

class CertificateRefused extends Error {
  override readonly name = 'CertificateRefused'
}

/** Milliseconds before the end of a certificate from which on the log warns. */
const renewalMs = 14 * 24 * 60 * 60 * 1000

export function readCertificate(files: CertificateFiles, now: Date): Certificate {
  const cert = readPem('--tls-cert', files.cert)
  const key = readPem('--tls-key', files.key)
  const found = parse(`--tls-cert ${files.cert} is not a certificate in PEM`, () => new X509Certificate(cert))
  const secret = parse(`--tls-key ${files.key} is not a private key in PEM without a password`, () =>
    createPrivateKey(key),
  )
  if (!found.checkPrivateKey(secret))
    throw new CertificateRefused(`the key in ${files.key} does not belong to the certificate in ${files.cert}`)
  const expires = new Date(found.validTo)
  if (expires <= now)
    throw new CertificateRefused(`the certificate in ${files.cert} expired on ${found.validTo}; renew it`)
  if (new Date(found.validFrom) > now)
    throw new CertificateRefused(`the certificate in ${files.cert} is not valid before ${found.validFrom}`)
  // Finds what is wrong with the rest of the chain, and keys that are too short.
  parse(`--tls-cert ${files.cert} and --tls-key ${files.key} cannot be used for TLS`, () =>
    process.getBuiltinModule('node:tls').createSecureContext({ cert, key }),
  )
  return { cert, key, expires }
}

/** A sentence for the log, if it is time to renew; undefined otherwise. */
export function expiryWarning({ expires }: Certificate, now: Date): string | undefined {
  const left = expires.getTime() - now.getTime()
  if (left > renewalMs) return undefined
  if (left <= 0) return 'the TLS certificate has expired; renew it, then send SIGHUP'
  const days = Math.max(1, Math.round(left / (24 * 60 * 60 * 1000)))
  return `the TLS certificate expires in ${days} day${days === 1 ? '' : 's'}; renew it, then send SIGHUP`
}

/** Throws an error that names the flag. */
export function readPem(flag: string, path: string): Buffer {
  try {
    return readBytes(path, smallFile)
  } catch (error) {
    throw new CertificateRefused(`${flag} cannot be read: ${(error as Error).message}`)
  }
}

function parse<T>(problem: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new CertificateRefused(`${problem}: ${(error as Error).message}`)
  }
}
