import { useEffect, useRef, useState } from 'react'
import { sentence } from '~/api/problem'
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

/** Image in an `img` element, which executes no scripts and loads no other resources. */
export function Picture({ file, mediaType, workspace }: Props) {
  const [size, setSize] = useState('')
  const [isBroken, setBroken] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const address = useAddress(file, mediaType, workspace, setProblem)
  const content = file.content
  if (content === undefined) return null
  if (content.size > LARGEST)
    return <p className={css.notice}>The file has {bytes(content.size)}. Download it to see it.</p>
  if (problem !== undefined) return <p className={css.notice}>{sentence(problem)}</p>
  if (isBroken) {
    return (
      <>
        <p className={css.notice}>The file has the name of an image, but not its content. These are the first bytes.</p>
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

/** Object URL for the bytes: those already read, or all of them if the file was truncated. */
function useAddress(file: OpenFile, mediaType: string, workspace: Workspace, onProblem: (problem: unknown) => void) {
  const { content, path } = file
  const [address, setAddress] = useState<string>()
  const failed = useRef(onProblem)
  failed.current = onProblem
  useEffect(() => {
    if (content === undefined || content.size > LARGEST) return
    const stop = new AbortController()
    let made: string | undefined
    const show = (bytes: BlobPart) => {
      if (stop.signal.aborted) return
      made = URL.createObjectURL(new Blob([bytes], { type: mediaType }))
      setAddress(made)
    }
    if (content.bytes.length === content.size) show(content.bytes)
    else
      workspace.remote
        .readAll(path, stop.signal)
        .then(show, (problem) => !stop.signal.aborted && failed.current(problem))
    return () => {
      stop.abort()
      if (made !== undefined) URL.revokeObjectURL(made)
    }
  }, [content, path, mediaType, workspace])
  return address
}
