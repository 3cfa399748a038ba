// Routes as people write them on the command line.

export const methods = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']

export function fullPath(path: string): string {
  const rooted = path.startsWith('/') ? path : `/${path}`
  return /^\/api(\/|$)/.test(rooted) ? rooted : `/api/v1${rooted}`
}
