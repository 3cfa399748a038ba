// The page behind the link of an invitation: a form that creates the account. It needs no script and no cookie; the token in its
// address authorizes the visitor, and other sites do not know it.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { invitations } from '../api/people/invitations.ts'
import type { Offer } from '../domain/people/invitations/offer.ts'
import { Refusal } from '../domain/refusal.ts'
import { escapeHtml } from '../domain/values/escape.ts'
import { Hold, perCall } from './held-bytes.ts'
import { prefix } from './incoming.ts'
import { innerFetch } from './inner-fetch.ts'
import type { Site } from './site.ts'

type JoinRequest = FastifyRequest<{ Params: { token: string } }>

const fields = ['full_name', 'email', 'password'] as const

/** GET shows the form; POST sends it to the API, as any client would. */
export async function serveJoin(site: Site, request: JoinRequest, reply: FastifyReply): Promise<void> {
  const { token } = request.params
  let offer: Offer
  try {
    offer = site.offer(token)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return send(reply, 404, page('This link does not work', `<p>${escapeHtml(rewriteReason(error.message))}</p>`))
  }
  const title = `Join ${offer.organization}`
  if (request.method !== 'POST') return send(reply, 200, page(title, form(offer, new URLSearchParams())))
  const given = new URLSearchParams(String(request.body ?? ''))
  const { status, body } = await accept(site, request, token, given)
  if (body.result !== 'success')
    return send(reply, status, page(title, form(offer, given, rewriteReason(body.msg ?? ''))))
  const login = `You can now log in at ${escapeHtml(site.url)} as <b>${escapeHtml(body.email ?? '')}</b>.`
  return send(reply, 200, page(`Welcome to ${offer.organization}`, `<p>Your account is ready. ${login}</p>`))
}

interface Answer {
  readonly result?: string
  readonly msg?: string
  readonly email?: string
}

/** Through the edge of the API, with its limits and its log, and in a cluster on to the leader. */
async function accept(site: Site, request: JoinRequest, token: string, given: URLSearchParams) {
  const form = new URLSearchParams({ token })
  for (const name of fields) {
    const value = given.get(name)
    if (value) form.set(name, value)
  }
  const { 'user-agent': agent, 'x-forwarded-for': forwarded } = request.headers
  const headers = {
    ...(agent !== undefined && { 'user-agent': agent }),
    ...(forwarded !== undefined && { 'x-forwarded-for': String(forwarded) }),
  }
  const { method, path } = invitations.accept
  const call = innerFetch(site, request.socket.remoteAddress)
  const hold = new Hold(site.heldBy(0))
  try {
    hold.set(perCall + ((request.body as Buffer | undefined)?.length ?? 0))
    const answer = await call(`${site.url}${prefix}${path}`, { method, headers, body: String(form) })
    return { status: answer.status, body: (await answer.json()) as Answer }
  } finally {
    hold.end()
  }
}

/** The message of a refusal without the name of a parameter: people see a form. */
function rewriteReason(msg: string): string {
  const text = msg.replace(/^(?:token|full_name|email|password): /, '').replace('full_name', 'name')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`
}

function form({ email, takesPassword }: Offer, given: URLSearchParams, problem?: string): string {
  const field = (name: string, label: string, type: string, more: string) =>
    `<p><label>${label}<br><input name="${name}" type="${type}" required ${more}></label></p>`
  return [
    problem === undefined ? '' : `<p role="alert">${escapeHtml(problem)}</p>`,
    '<form method="post">',
    email === undefined
      ? field('email', 'Email address', 'email', `autocomplete="email" value="${escapeHtml(given.get('email') ?? '')}"`)
      : `<p>You were invited as <b>${escapeHtml(email)}</b>.</p>`,
    field('full_name', 'Full name', 'text', `autocomplete="name" value="${escapeHtml(given.get('full_name') ?? '')}"`),
    takesPassword ? field('password', 'Password', 'password', 'autocomplete="new-password"') : '',
    '<p><button>Create account</button></p>',
    '</form>',
  ].join('\n')
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
${content}
</body>
</html>
`
}

const headers = {
  // No script, style or picture at all; the form goes to its own address only.
  'Content-Security-Policy':
    "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; style-src 'none'",
  // The address holds the token.
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
}

function send(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply.code(status).headers(headers).type('text/html; charset=utf-8').send(html)
}
