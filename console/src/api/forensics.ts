/** Where the forensics of a run are downloaded. */
export function forensicsUrl(runId: string): string {
  return `/api/v1/runs/${encodeURIComponent(runId)}/forensics`
}
