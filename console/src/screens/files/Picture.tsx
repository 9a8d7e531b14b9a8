import { useEffect, useState } from 'react'
import { bytesAt } from '~/api/files'
import { hex } from '~/store/file-kind'
import { nameOf } from '~/store/file-tree'
import type { OpenFile } from '~/store/open-file'
import type { Workspace } from '~/store/workspace'
import { bytes } from '~/ui/format'
import css from './FileView.module.css'

const LARGEST = 32 * 1024 * 1024
const HEX = 4 * 1024

interface Props {
  readonly file: OpenFile
  readonly mediaType: string
  readonly workspace: Workspace
}

/** An image, as nothing but an image: what is in it runs nothing and loads nothing. */
export function Picture({ file, mediaType, workspace }: Props) {
  const [size, setSize] = useState('')
  const [isBroken, setBroken] = useState(false)
  const address = useAddress(file, mediaType, workspace)
  const content = file.content
  if (content === undefined) return null
  if (content.size > LARGEST) return <p className={css.notice}>It has {bytes(content.size)}: download it to see it.</p>
  if (isBroken) {
    return (
      <>
        <p className={css.notice}>It is called an image and is none. These are its first bytes.</p>
        <pre className={css.hex}>{hex(content.bytes.subarray(0, HEX)).join('\n')}</pre>
      </>
    )
  }
  return (
    <figure className={css.picture}>
      {address !== undefined && (
        <img
          src={address}
          alt={nameOf(file.path)}
          onError={() => setBroken(true)}
          onLoad={(event) => setSize(`${event.currentTarget.naturalWidth} × ${event.currentTarget.naturalHeight}`)}
        />
      )}
      <figcaption>{size}</figcaption>
    </figure>
  )
}

/** Out of what was read, if that is all of it; else the browser reads it itself. */
function useAddress(file: OpenFile, mediaType: string, workspace: Workspace): string | undefined {
  const content = file.content
  const isWhole = content !== undefined && content.bytes.length === content.size
  const [address, setAddress] = useState<string>()
  useEffect(() => {
    if (content === undefined || !isWhole) return
    const made = URL.createObjectURL(new Blob([content.bytes], { type: mediaType }))
    setAddress(made)
    return () => URL.revokeObjectURL(made)
  }, [content, isWhole, mediaType])
  if (isWhole || content === undefined) return address
  if (!workspace.remote.isAwake) return undefined
  return `${bytesAt(workspace.remote.sandboxId, file.path)}?version=${encodeURIComponent(content.tag)}`
}
