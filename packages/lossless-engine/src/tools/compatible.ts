// Answers arguments that only tools with summaries have a use for.

/** Of tools whose record is a tree of summaries. */
export const SUMMARY_PARAMETERS = {
  summaryIds: {
    type: "array",
    items: { type: "string" },
    description: "There are no summaries here.",
  },
} as const;

/** Arguments that name or walk summaries. */
export interface SummaryArguments {
  readonly summaryIds?: readonly string[] | undefined;
  readonly maxDepth?: number | undefined;
  readonly includeMessages?: boolean | undefined;
}

/** One line for each that has no effect. */
export function withoutEffect({
  summaryIds,
  maxDepth,
  includeMessages,
}: SummaryArguments): string[] {
  return [
    ...(summaryIds === undefined || summaryIds.length === 0
      ? []
      : [
          "summaryIds: there are no summaries here, every message is kept itself; words find them.",
        ]),
    ...(maxDepth === undefined ? [] : ["maxDepth: nothing here has a depth, it was left out."]),
    ...(includeMessages === false
      ? ["includeMessages: what is found here is messages, so they are shown."]
      : []),
  ];
}
