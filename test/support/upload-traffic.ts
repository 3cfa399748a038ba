// Uploads that come and go beside snapshots, and what a store that was restored has of them.

import assert from 'node:assert/strict'
import { uploads } from '../../daemon/api/files/uploads.ts'
import type { Caller, TestDaemon } from './daemon.ts'

/** Uploads a text and returns its address. */
export async function uploadText(caller: Caller, content: string): Promise<string> {
  const part = `--b\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\n${content}\r\n--b--\r\n`
  const form = { body: part, headers: { 'Content-Type': 'multipart/form-data; boundary=b' } }
  const { body } = await caller.raw('POST', '/api/v1/user_uploads', form)
  assert.equal(body.result, 'success', JSON.stringify(body))
  return String(body.url)
}

/** While `work` runs: uploads are made and deleted, and the store is compacted again and again. */
export async function withUploadTraffic(daemon: TestDaemon, work: () => Promise<void>): Promise<void> {
  let going = true
  // Before the work: what it reads has an upload, however slow the machine is.
  await uploadText(daemon.owner, 'the first upload')
  const uploading = (async () => {
    for (let made = 0; going; made++) {
      await uploadText(daemon.owner, `upload ${made} ${'x'.repeat(made % 100)}`)
      const { attachments } = await daemon.owner.call(uploads.list, {})
      for (const { id } of attachments.slice(0, -20)) await daemon.owner.call(uploads.remove, { attachment_id: id })
    }
  })()
  const compacting = (async () => {
    while (going) await daemon.compact()
  })()
  try {
    await work()
  } finally {
    going = false
    await Promise.all([uploading, compacting])
  }
}

/** Reads every file that the account has uploaded; returns how many. */
export async function readUploads(caller: Caller): Promise<number> {
  const { attachments } = await caller.call(uploads.list, {})
  for (const { path_id, size } of attachments) {
    const { body } = await caller.raw('GET', `/api/v1/user_uploads/${path_id}`)
    const response = await fetch(`${caller.url}${body.url}`)
    assert.equal(response.status, 200, `${path_id}: ${JSON.stringify(body)}`)
    assert.equal((await response.arrayBuffer()).byteLength, size, path_id)
  }
  return attachments.length
}
