// The default folders of both programs.

type Env = Readonly<Record<string, string | undefined>>

/** Where a store is kept unless a flag says otherwise. `home` is for an environment without HOME. */
export function defaultDataFolder(env: Env, home: string): string {
  return `${dataHome(env, home)}/store`
}

/** Where `natter daemon start --memory` keeps the log, so that such a daemon runs beside that of the default store. */
export function defaultMemoryFolder(env: Env, home: string): string {
  return `${dataHome(env, home)}/memory`
}

function dataHome(env: Env, home: string): string {
  return `${env.XDG_DATA_HOME || `${env.HOME || home}/.local/share`}/natter`
}

/** Where the command line keeps `profiles.json`. */
export function configFolder(env: Env, home: string): string {
  return env.NATTER_CONFIG_DIR || `${env.XDG_CONFIG_HOME || `${env.HOME || home}/.config`}/natter`
}
