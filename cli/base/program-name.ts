// The name of natter in the commands that it suggests. A local installation has its programs on the PATH of npx only.

export function programName(): string {
  return isUnderNpx() ? 'npx natter' : 'natter'
}

export function isUnderNpx(): boolean {
  return process.env.npm_command === 'exec'
}
