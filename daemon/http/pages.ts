// What a world answers beside the API: the inspector, probes, metrics, pictures, uploads, the control plane. One set of fastify routes for all worlds;
// each request knows which world it is for.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { emojiData } from '../domain/markdown/emoji-data.ts'
import { serveImage, unknownUser } from './images.ts'
import { controlPrefix, peersPrefix, prefix } from './incoming.ts'
import { serveInspector } from './inspector.ts'
import type { Site } from './site.ts'

export function addPages(app: FastifyInstance, siteOf: (request: FastifyRequest) => Site): void {
  app.get('/livez', async () => ({ ok: true }))
  app.get('/readyz', (request, reply) => {
    const { isReady, readiness } = siteOf(request)
    return reply.code(isReady ? 200 : 503).send(readiness)
  })
  app.get('/metrics', async (request, reply) => {
    const metrics = siteOf(request).metricsFor(request)
    return metrics ? reply.type(metrics.contentType).send(await metrics.text()) : reply.callNotFound()
  })
  app.get('/', (request, reply) => serveInspector(request, reply, 'index.html'))
  app.get<{ Params: { file: string } }>('/inspector/:file', (request, reply) =>
    serveInspector(request, reply, request.params.file),
  )
  app.get<{ Params: { file: string } }>('/static/:file', (request, reply) => {
    const { file } = request.params
    if (file === 'emoji.json') return reply.header('Cache-Control', 'max-age=86400').send(emojiData())
    const image = Object.hasOwn(images, file) ? images[file] : undefined
    return image === undefined ? reply.callNotFound() : reply.type('image/svg+xml').send(image)
  })
  app.get('/user_avatars/*', (request, reply) => serveImage(siteOf(request).readFile, request.url, reply))
  for (const path of ['/avatar', `${prefix}/avatar`])
    for (const size of ['', '/medium'])
      app.get<{ Params: { who: string } }>(`${path}/:who${size}`, (request, reply) =>
        reply.redirect(siteOf(request).avatar(request, request.params.who, size !== '')),
      )
  app.get('/user_uploads/*', async (request, reply) => {
    const { status, headers, body } = await siteOf(request).upload(request)
    return reply.code(status).headers(headers).send(body)
  })
  app.route({
    method: ['GET', 'POST'],
    url: `${peersPrefix}/*`,
    handler: (request, reply) => {
      const { peers } = siteOf(request)
      return peers ? peers(request, reply) : reply.callNotFound()
    },
  })
  // One route for the whole control plane: each costs a fifth of a millisecond of the start.
  app.route({
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    url: `${controlPrefix}/*`,
    handler: (request, reply) => {
      const { control } = siteOf(request)
      return control ? control(request, reply) : reply.callNotFound()
    },
  })
}

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><path d="M8 8h48v36H28L16 56V44H8z" fill="#4f8de4"/></svg>'

const images: Readonly<Record<string, string>> = { 'icon.svg': icon, 'unknown-user.svg': unknownUser }
