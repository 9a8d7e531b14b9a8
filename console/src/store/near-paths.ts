/**
 * Paths that contain the letters in this order, best match first: in the name before the directories, adjacent before
 * separate.
 */
export function bestMatches(paths: readonly string[], letters: string, most: number): readonly string[] {
  const wanted = letters.toLowerCase().replaceAll(' ', '')
  if (wanted === '') return paths.slice(0, most)
  return paths
    .flatMap((path) => {
      const distance = distanceOf(path.toLowerCase(), wanted)
      return distance === undefined ? [] : [{ path, distance }]
    })
    .sort((a, b) => a.distance - b.distance || a.path.length - b.path.length || (a.path < b.path ? -1 : 1))
    .slice(0, most)
    .map(({ path }) => path)
}

const IN_PATH = 1_000
const APART = 10_000

function distanceOf(path: string, wanted: string): number | undefined {
  const name = path.lastIndexOf('/') + 1
  const inName = path.indexOf(wanted, name)
  if (inName >= 0) return inName - name
  const inPath = path.indexOf(wanted)
  if (inPath >= 0) return IN_PATH + inPath
  const spread = spreadOf(path, wanted)
  return spread === undefined ? undefined : APART + spread
}

/** Distance of the letters, if the path contains all of them in order. */
function spreadOf(path: string, wanted: string): number | undefined {
  let at = -1
  let first = -1
  for (const letter of wanted) {
    at = path.indexOf(letter, at + 1)
    if (at < 0) return undefined
    if (first < 0) first = at
  }
  return at - first - wanted.length
}
