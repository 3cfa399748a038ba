// The edge of the API: one request, from its head to its answer. Errors become answers here. It bypasses fastify, whose handling
// would be a fifth of the work of a small request.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Endpoint } from '../api/define.ts'
import { replayedHeader } from '../api/idempotency.ts'
import { decode, problemInParams } from '../api/wire.ts'
import type { State, User } from '../domain/model/state.ts'
import { Refusal, stateReplaced } from '../domain/refusal.ts'
import type { Context, Outcome } from '../domain/resource.ts'
import { checkCall } from '../domain/rules/index.ts'
import { Written } from '../domain/written.ts'
import { createAnswering, missingPath, notStored, refuse, success, wrongMethod } from './answer.ts'
import { Authenticator, missingBearer, stillKnown } from './authenticate.ts'
import { BodyRefused, readBody, readOn, readPieces } from './body.ts'
import { buildContext } from './call-context.ts'
import { crash } from './defect.ts'
import { chooseDialect, currentPath, speakAuthentication, understand } from './dialect.ts'
import type { EdgeParts, ProcessLog } from './edge-parts.ts'
import type { Answering, RepeatedCall, RequestHead, Response } from './exchange.ts'
import { Hold, perCall } from './held-bytes.ts'
import { type Attempt, once, readAttempt } from './idempotency.ts'
import { hasBody, Incoming, isMultipart, prefix } from './incoming.ts'
import { LoginBudget, maskNetwork } from './login-budget.ts'
import { QueueEndpoints } from './long-poll.ts'
import { MailBudget } from './mail-budget.ts'
import { type FinishedCall, ObservedCall } from './observed-call.ts'
import { explainMissing, type FieldMap, measureFields, readFields, readMethod, readParts } from './parameters.ts'
import { isPosted, keyIn, missingKey, packForm, readPosted } from './posted.ts'
import { budgetOf, budgets, RateLimiter } from './rate-limit.ts'
import { findPicture, sendToPicture } from './redirects.ts'
import { type Found, Routes } from './routes.ts'
import { hasEncodedSlash, slashRefusal } from './target.ts'
import { ToLeader, type ToLeaderParts, takesFile } from './to-leader.ts'
import { findUnconfigured } from './unconfigured.ts'
import { KeptFiles, UploadsInProgress } from './uploads-in-progress.ts'

type Params = Record<string, unknown>

type Body = Buffer | IncomingMessage | undefined

interface Call {
  readonly found: Found
  readonly request: Incoming
  /** The state that the actor was found in. */
  readonly state: State
  readonly actor: User | undefined
  readonly fields: FieldMap
  readonly answering: Answering
}

export class Edge {
  readonly #parts: EdgeParts
  readonly #log: ProcessLog
  readonly #newId: () => string
  readonly #routes: Routes
  readonly #authenticator: Authenticator
  readonly #queues: QueueEndpoints
  readonly limiter: RateLimiter | undefined
  readonly #logins: LoginBudget | undefined
  readonly #toLeader: ToLeader | undefined
  readonly #mails: MailBudget

  constructor(parts: EdgeParts, newId: () => string, log: ProcessLog) {
    this.#parts = parts
    this.#log = log
    this.#newId = newId
    this.#routes = Routes.of(parts.resources)
    this.#authenticator = new Authenticator(parts.keys)
    this.#queues = new QueueEndpoints(parts)
    this.limiter = parts.rateLimit ? new RateLimiter(parts) : undefined
    this.#logins = this.limiter && new LoginBudget(this.limiter)
    const { forwarding } = parts
    const known: ToLeaderParts['known'] = (...call) => this.#known(...call)
    const countUnknown: ToLeaderParts['countUnknown'] = ({ ip }, { headers }) => this.#countClient(ip, headers)
    this.#toLeader = forwarding && new ToLeader({ ...parts, forwarding, known, countUnknown, limiter: this.limiter })
    this.#mails = new MailBudget(parts)
  }

  /** Takes a request that node:http has read as far as its body. */
  take(raw: IncomingMessage, response: ServerResponse, forwarded = false): void {
    if (!hasBody(raw)) this.serve(raw, undefined, response, forwarded)
    else if (isMultipart(raw.headers)) this.serve(raw, raw, response, forwarded)
    else {
      const { bodyBytes, held } = this.#parts.intake
      readBody(raw, bodyBytes, held).then(
        body => this.serve(raw, body, response, forwarded),
        error => {
          const { request, answering } = this.#begin(raw, response, forwarded)
          this.#fail(error, request, answering)
        },
      )
    }
  }

  /** A multipart body may still be arriving. `forwarded`: another daemon of the cluster has sent it on. */
  serve(head: RequestHead, body: Body, response: Response, forwarded = false): void {
    const { request, answering } = this.#begin(head, response, forwarded)
    const end = () => answering.hold?.end()
    try {
      const serving = this.#serve(request, body, answering)
      if (serving instanceof Promise) serving.then(end).catch(error => this.#fail(error, request, answering))
      else end()
    } catch (error) {
      this.#fail(error, request, answering)
    }
    answering.observed?.await(response)
  }

  #begin(head: RequestHead, response: Response, forwarded: boolean): { request: Incoming; answering: Answering } {
    const request = new Incoming(head, this.#newId(), this.#parts.trustProxy, forwarded)
    const answering: Answering = createAnswering(
      request,
      response,
      chooseDialect(this.#parts.dialect, head.headers['user-agent']),
      this.#parts.watch?.arrive(request),
      this.#observe(request),
    )
    return { request, answering }
  }

  /** The level of the log can change while the daemon runs. */
  #observe(request: Incoming): ObservedCall | undefined {
    if (!this.#parts.countCall && !this.#log.isLevelEnabled('info')) return undefined
    return new ObservedCall(request, this.#finish)
  }

  readonly #finish = (call: FinishedCall): void => {
    this.#parts.countCall?.(call)
    if (this.#log.isLevelEnabled('info')) this.#log.call(call)
  }

  #fail(error: unknown, request: Incoming, answering: Answering): void {
    answering.hold?.end()
    if (error instanceof BodyRefused) {
      answering.headers.push('Connection', 'close')
      if (answering.raw.socket) readOn(answering.raw.socket)
    }
    try {
      if (error instanceof Refusal) refuse(answering, error)
      else crash(this.#log, error, request, answering)
    } catch (failure) {
      // The answer cannot be written any more.
      this.#log.error({ reqId: request.id, err: failure }, 'a call cannot be answered')
      answering.raw.destroy()
    }
  }

  // No promise where nothing has to be waited for: one for every step would cost a small request more than its work.
  #serve(request: Incoming, body: Body, answering: Answering): void | Promise<void> {
    const { query, headers } = request
    const path = answering.dialect === 'spec' ? request.path : currentPath(request.path)
    const method = readMethod(request.method, path.slice(prefix.length), headers, body)
    const found = this.#routes.find(answering.head ? 'GET' : method, path.slice(prefix.length))
    if (!found || !this.#parts.server.level.spoken(found.route.endpoint))
      return this.#unknown(request, method, path, answering)
    if (answering.observed) answering.observed.operation = found.route.endpoint.id
    const posted = isPosted(found) ? readPosted(found, query, headers, body) : undefined
    if (this.#toLeader?.mustForward(request, found)) return this.#toLeader.send(found, request, body, answering, posted)
    const { state } = this.#parts.engine
    const actor = this.#identify(request, found, answering, posted)
    if (body && isMultipart(headers)) return this.#serveParts({ found, request, state, actor, answering }, body)
    const fields = posted ?? readFields(query, headers, body as Buffer | undefined)
    return this.#admit({ found, request, state, actor, fields, answering })
  }

  async #serveParts(call: Omit<Call, 'fields'>, body: Exclude<Body, undefined>): Promise<void> {
    const { intake, arriving } = this.#parts
    const { found, request, actor } = call
    // Only accounts may send files.
    const limit = actor && takesFile(found.route.endpoint) ? intake.uploadBytes : intake.bodyBytes
    const uploads = new UploadsInProgress(arriving.begin(actor), intake.held)
    try {
      const pieces = Buffer.isBuffer(body) ? [body] : readPieces(body, limit)
      const fields = await readParts(request.query, request.headers, pieces, uploads)
      await this.#admit({ ...call, fields: isPosted(found) ? packForm(found, request.headers, fields) : fields })
    } catch (error) {
      // Skips the rest of the body, so that node:http can read the next request.
      if (!Buffer.isBuffer(body)) body.resume()
      throw error
    } finally {
      await uploads.end()
    }
  }

  #admit(sent: Call): void | Promise<void> {
    const { found, actor, answering } = sent
    const { watched } = answering
    const share = this.#parts.shares.get(actor?.bot?.ownerId ?? actor?.id ?? 0)
    answering.hold = new Hold(share.held)
    answering.hold.set(measureFields(sent.fields))
    const fields = answering.dialect === 'spec' ? sent.fields : understand(sent.fields)
    const call = fields === sent.fields ? sent : { ...sent, fields }
    const callInTurn = () => this.#parts.turns.take(share, () => this.#call(call))
    if (!watched) return callInTurn()
    const { endpoint } = found.route
    const admitting = watched.admit({ endpoint, actor, fields, sent: sent.fields, path: found.path, answering })
    return then(admitting, admitted => (admitted ? callInTurn() : undefined))
  }

  #call({ found, request, state, actor, fields, answering }: Call): void | Promise<void> {
    const { key } = found.route
    const { endpoint, step } = this.#parts.server.level.spoken(found.route.endpoint)!
    const decoded = decode(endpoint, found.path, fields, answering.dialect === 'zulip')
    if ('rejected' in decoded) throw new Refusal(explainMissing(decoded.rejected, fields), decoded.rejected)
    const { params, ignored, size } = decoded
    answering.hold?.set(perCall + size)
    answering.watched?.understood(params)
    const caller = this.#current(actor, found.route.endpoint, state)
    const ctx = buildContext(this.#parts, request, fields, caller, answering.dialect)
    const attempt = readAttempt(request.headers, endpoint, found.path, fields, ctx.keys)
    if (endpoint.served === 'queues')
      return this.#queues[key as 'register' | 'get' | 'delete']({ ctx, answering, ignored, attempt }, params as never)
    return then(this.#run(found, request, ctx, params, answering, attempt), reply =>
      success(answering, step && !(reply instanceof Written) ? step(reply) : reply, ignored),
    )
  }

  #identify(request: Incoming, { route: { endpoint } }: Found, to: Answering, posted?: FieldMap): User | undefined {
    if (endpoint.access === 'anyone') return void this.#countClient(request.ip, to.headers)
    const actor = this.authenticate(request, to, posted)
    if (to.observed) to.observed.account = actor.id
    to.watched?.identified(endpoint, actor)
    this.limiter?.count(budgetOf(endpoint), actor.id, to.headers)
    checkCall({ state: this.#parts.engine.state, actor, server: this.#parts.server }, endpoint)
    return actor
  }

  /** The account as it is now: it may have changed while the call waited for its body, for a fault or for a password's hash. */
  #current(known: User | undefined, endpoint: Endpoint, foundIn: State): User | undefined {
    const { engine, server } = this.#parts
    const actor = known && stillKnown(engine.state, known)
    if (engine.state !== foundIn) throw stateReplaced()
    if (actor && actor !== known) checkCall({ state: foundIn, actor, server }, endpoint)
    return actor
  }

  /** Callers who fail to authenticate count towards the limit of their address. */
  authenticate(
    request: Pick<Incoming, 'headers' | 'ip'>,
    answering: Pick<Answering, 'headers' | 'dialect'> = { headers: [], dialect: 'spec' },
    posted?: FieldMap,
  ): User {
    try {
      return this.#known(request, answering, posted)
    } catch (error) {
      this.#countClient(request.ip, answering.headers)
      throw error
    }
  }

  /** The same for a caller who has sent nothing but an API key. */
  authenticateKey(key: string | undefined, ip: string): User {
    try {
      return this.#authenticator.authenticateKey(this.#parts.engine.state, key, missingBearer)
    } catch (error) {
      this.#countClient(ip, [])
      throw error
    }
  }

  #countClient(ip: string, headers: string[]): void {
    this.limiter?.count(budgets.address, maskNetwork(ip), headers)
  }

  /** `posted` are the fields of an incoming webhook, whose key is among them. */
  #known({ headers }: Pick<Incoming, 'headers'>, { dialect }: Pick<Answering, 'dialect'>, posted?: FieldMap): User {
    const { state } = this.#parts.engine
    if (posted) return this.#authenticator.authenticateKey(state, keyIn(posted), missingKey)
    try {
      return this.#authenticator.authenticate(state, headers.authorization)
    } catch (error) {
      throw dialect === 'zulip' ? speakAuthentication(error) : error
    }
  }

  #run(
    found: Found,
    request: Incoming,
    ctx: Context,
    params: Params,
    answering: Answering,
    attempt: Attempt | undefined,
  ): object | Promise<object> {
    const { endpoint, resource, key } = found.route
    const prepare = resource.prepare?.[key]
    const run = resource.commands[key]!
    const { tools, engine, files } = this.#parts
    const command: typeof run = attempt
      ? (current, given, prepared) => once(attempt, current, answering.headers, () => run(current, given, prepared))
      : run
    const repeated = this.#repeatedElsewhere(endpoint, params, current => command(current, params, undefined))
    // A request that was answered before needs no preparation.
    const isKnown = attempt && engine.state.answers.find(ctx.actor.id, attempt.key) !== undefined
    if (!prepare || isKnown) return this.#decide(endpoint, ctx, repeated)
    const login = endpoint.login && this.#logins?.begin(endpoint.login, params, ctx.actor, request.ip)
    const kept = new KeptFiles(tools.keepFile, files)
    // In a later turn, because a file that was just kept is protected until this one ends.
    const drop = () => kept.names.length > 0 && engine.boundary.nextTurn(() => engine.dropFiles(kept.names))
    const finish = async () => {
      try {
        // A world that was replaced while the body arrived no longer has its files.
        engine.mustBeOpen()
        const prepared = await prepare({ ...tools, keepFile: kept.keep }, params, engine.state, ctx.actor)
        const reply = await this.#decide(endpoint, ctx, current => command(current, params, prepared as never))
        // The same request was answered while this one was prepared, so this password was not looked at.
        if (answering.headers.includes(replayedHeader)) {
          drop()
          login?.fail(undefined)
        } else login?.succeed()
        return reply
      } catch (refusal) {
        login?.fail(refusal)
        drop()
        throw refusal
      } finally {
        kept.release()
      }
    }
    return finish()
  }

  /** Makes the other daemons of a cluster repeat a call with signals. */
  #repeatedElsewhere(endpoint: Endpoint, params: Params, command: (ctx: Context) => Outcome<object>): typeof command {
    const { onSignals } = this.#parts
    if (!onSignals) return command
    return ctx => {
      const outcome = command(ctx)
      if (ctx.actor && (outcome.touch || (outcome.signals && outcome.signals.length > 0)))
        onSignals({ endpoint: endpoint.id, actor: ctx.actor.id, params, now: ctx.now, client: ctx.client })
      return outcome
    }
  }

  /** Repeats a call of another daemon, for its signals and its changes outside of the journal. Never throws. */
  repeat({ endpoint: id, actor: userId, params, now, client }: RepeatedCall): void {
    const { engine, random, keys, server } = this.#parts
    const actor = engine.state.users.get(userId)
    const route = this.#routes.byId(id)
    if (!actor || !route || problemInParams(route.endpoint, params) !== undefined) return
    try {
      const ctx = { actor, state: engine.state, now, client, random, keys, server }
      const { signals = [], touch } = route.resource.commands[route.key]!(ctx, params)
      engine.repeat(signals, touch)
    } catch {
      // This daemon is a little ahead of the other one, or behind it, and refuses the call.
    }
  }

  #decide(endpoint: Endpoint, ctx: Context, command: (ctx: Context) => Outcome<object>): object | Promise<object> {
    const { engine } = this.#parts
    const userId = ctx.actor?.id ?? null
    return engine.run(endpoint.id, userId, state => {
      const actor = this.#current(ctx.actor, endpoint, ctx.state)!
      const outcome = command(actor === ctx.actor ? ctx : { ...ctx, actor })
      if (outcome.facts && outcome.facts.length > 0) engine.budget?.check(state, userId)
      if (outcome.mails && outcome.mails.length > 0) this.#mails.spend(state, endpoint, actor, outcome.mails)
      return outcome
    })
  }

  #unknown(request: Incoming, method: string, path: string, answering: Answering): void {
    const picture = findPicture(method, path.slice(prefix.length), request.query)
    if (picture) {
      this.authenticate(request, answering)
      sendToPicture(this.#parts, picture, request.query, answering)
      return
    }
    const known = findUnconfigured(method, path.slice(prefix.length))
    if (known?.access === 'user') this.authenticate(request, answering)
    if (known) throw known.refusal()
    const { level } = this.#parts.server
    const allowed = this.#routes.allowed(path.slice(prefix.length), endpoint => level.spoken(endpoint) !== undefined)
    if (allowed.length === 0) throw hasEncodedSlash(path) ? slashRefusal() : missingPath(path)
    answering.headers.push('Allow', allowed.join(', '))
    if (method === 'OPTIONS') {
      answering.observed?.answered(204)
      answering.raw.writeHead(204, [...notStored, ...answering.headers])
      answering.raw.end()
    } else throw wrongMethod(method, allowed)
  }
}

/** Continues in the same turn if there is nothing to wait for. */
function then<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
