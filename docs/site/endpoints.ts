// Endpoints as "Try it" needs them.

import type { TSchema } from '@sinclair/typebox'
import { baseOf, type Endpoint, isUpload, type Param } from '../../daemon/api/define.ts'
import { sampleCall } from '../generate/samples.ts'
import { loadCatalogue, loadControlPages } from '../generate/sources.ts'
import type { TriedEndpoint, TriedField } from './browser/tried-endpoint.ts'

/** By the titles of their pages. */
export async function describeEndpoints(): Promise<ReadonlyMap<string, TriedEndpoint>> {
  const resources = [...(await loadCatalogue()), ...(await loadControlPages())]
  const endpoints = resources.flatMap(resource => resource.endpoints)
  return new Map(endpoints.filter(canBeTried).map(endpoint => [keyOf(endpoint), describeEndpoint(endpoint)]))
}

/** Endpoints of API and control plane can have the same path. */
export function keyOf({ access, method, path }: Pick<Endpoint, 'access' | 'method' | 'path'>): string {
  return `${access === 'control' ? 'control' : 'endpoint'} ${method} ${path}`
}

/** Not what natterd sends itself, nor what takes the payload of a service as its body. */
function canBeTried({ served, access }: Endpoint): boolean {
  return served !== 'outgoing' && access !== 'key'
}

function describeEndpoint(endpoint: Endpoint): TriedEndpoint {
  const { method, path, access, params } = endpoint
  const samples = findSamples(endpoint)
  const fields = Object.entries(params).map(([name, param]) => describeField(name, param, samples.get(name)))
  return { method, path, base: baseOf(endpoint), access, fields }
}

/** Values of the shortest call, as a form has them. */
function findSamples(endpoint: Endpoint): ReadonlyMap<string, string> {
  const { path, fields } = sampleCall(endpoint)
  const names = [...endpoint.path.matchAll(/\{(\w+)(?:\.\.\.)?\}/g)].map(([, name]) => name!)
  const pattern = endpoint.path.replace(/\{\w+\.\.\.\}/g, '(.+)').replace(/\{\w+\}/g, '([^/?]+)')
  const values = new RegExp(`^${pattern}`).exec(path)?.slice(1) ?? []
  return new Map([
    ...names.map((name, index) => [name, decodeURIComponent(values[index] ?? '')] as const),
    ...[...fields].flatMap(([name, value]) => (isUpload(value) ? [] : [[name, value] as const])),
  ])
}

function describeField(name: string, { shape, presence, fallback }: Param, sample: string | undefined): TriedField {
  const choices = choicesOf(shape)
  return {
    name,
    ...(presence === 'path' && { inPath: true }),
    ...((presence === 'path' || presence === 'required') && { required: true }),
    kind: kindOf(shape),
    ...(choices.length > 0 && { choices }),
    ...(sample !== undefined && { value: sample }),
    ...(presence === 'defaulted' && { usual: JSON.stringify(fallback) }),
  }
}

function kindOf(shape: TSchema): TriedField['kind'] {
  if (shape.format === 'binary') return 'file'
  if (shape.ref === 'markdown') return 'markdown'
  if (shape.ref === 'secret') return 'secret'
  return shape.type === 'string' || choicesOf(shape).some(value => typeof value === 'string') ? 'text' : 'json'
}

/** The values of a closed set. */
function choicesOf(shape: TSchema): (string | number | boolean)[] {
  if (shape.type === 'boolean') return [true, false]
  const arms: TSchema[] = Array.isArray(shape.anyOf) ? shape.anyOf : []
  return arms.every(({ const: value }) => value !== undefined) ? arms.map(arm => arm.const) : []
}
