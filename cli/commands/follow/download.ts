// `natter uploads download`: saves an uploaded file on this machine.

import { basename } from 'node:path'
import { harmlessName } from '../../../daemon/local/harmless.ts'
import { usage } from '../../base/failure.ts'
import { refuseExisting } from '../../base/files.ts'
import { accountFor, demandKey } from '../../base/profile.ts'
import type { Invocation } from '../../base/subcommand.ts'
import { printBytes } from '../../base/writer.ts'
import { printReply } from '../../print/output.ts'
import { limitSize, sizeIn } from '../../transport/download.ts'
import { openFile, pathIdIn, saveFile } from '../../transport/uploaded-files.ts'

export async function downloadUpload({ args, flags, globals }: Invocation): Promise<void> {
  const account = accountFor(globals, process.env)
  demandKey(account)
  const pathId = pathIdIn(args[0]!, account.site)
  if (pathId === undefined)
    throw usage(`"${args[0]}" is not a file of ${account.site}`, 'A path looks like /user_uploads/1/4f/report.pdf')
  const most = sizeIn(flags['max-size'])
  const target = (flags.output as string | undefined) ?? harmlessName(basename(pathId))
  if (target === '-') {
    for await (const bytes of limitSize(await openFile(account, pathId, globals), most)) await printBytes(bytes)
    return
  }
  if (!globals.yes) refuseExisting(target, 'Give another name with --output, or --yes to replace it.')
  await saveFile(account, pathId, target, globals, most)
  await printReply({ saved: target }, {}, globals)
}
