// Names the message of a job's run, so that it is said once however often it is sent.
import type { UserMessage } from "@clew/plugin-sdk/core";

export const runName = (job: string, due: number): string => `cron/${job}/${due}`;

const OF_RUN = /^cron\/[^/]+\/\d+$/;

/** Which gateways go on with where another one died: it is written down that they run it. */
export const isOfRun = ({ idempotencyKey, __openclaw }: UserMessage): boolean =>
  __openclaw?.kind !== undefined && OF_RUN.test(idempotencyKey ?? "");
