// Says why a gateway went away while it was asked, as far as its home tells.
import { ContextEngineError, isAbort } from "@clew/plugin-sdk/core";
import { readSafeMode } from "../../plugins/safe-mode.ts";

/** `since`: ms since the epoch; what was put into safe mode before it is not why. */
export interface AskedGateway {
  home: string;
  since: number;
}

/** What ends a connection is told as what it means; everything else stays what it is. */
export function asGatewayGone(error: unknown, asked: AskedGateway, signal: AbortSignal): unknown {
  if (signal.aborted || ContextEngineError.is(error) || isAbort(error)) return error;
  const { message, code, cause } = error as NodeJS.ErrnoException;
  const told = `${message} ${code ?? ""} ${(cause as NodeJS.ErrnoException | undefined)?.code ?? ""}`;
  if (!ENDED.test(told)) return error;
  const why = planWhyGone(readSafeMode(asked.home).plugins, asked.since);
  return new ContextEngineError(
    "GATEWAY_STOPPING",
    `The gateway ended before the reply did${why}. What had arrived is kept; "clew start" starts it again.`,
    { cause: error },
  );
}

/** Of connections. */
const ENDED = /socket hang up|aborted|terminated|ECONNRESET|ECONNREFUSED|EPIPE|UND_ERR_SOCKET/;

/** Pure. A clause, or nothing where nobody knows. */
export function planWhyGone(
  plugins: ReturnType<typeof readSafeMode>["plugins"],
  since: number,
): string {
  const [newest] = Object.entries(plugins)
    .filter(([, { at }]) => Date.parse(at) >= since)
    .toSorted(([, one], [, other]) => other.at.localeCompare(one.at));
  if (newest === undefined) return "";
  const [id, { reason }] = newest;
  return `: plugin "${id}" ${reason}, and is off from its next start on (safe mode)`;
}
