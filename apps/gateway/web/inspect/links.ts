// Which rows of the three columns belong together.

/** What is pointed at; both null = nothing. */
export interface Link {
  entryId: string | null;
  summaryId: string | null;
}

export const NO_LINK: Link = { entryId: null, summaryId: null };

/** Pure. The same entry; or the summary that an entry is in, and the other way round. */
export function isLinked(link: Link, row: Link): boolean {
  return (
    (link.entryId !== null && link.entryId === row.entryId) ||
    (link.summaryId !== null && link.summaryId === row.summaryId)
  );
}
