// Asks the collector of traces whether it takes any.
import { shownAddress } from "@clew/plugin-sdk/host";
import type { LoadedConfig } from "../config/load.ts";
import { tracesUrl } from "../tracing/trace.ts";
import type { Finding } from "./finding.ts";

const PROBE_MS = 3000;

/** Nothing is said where no traces are wanted. */
export async function checkTraces({ config }: Pick<LoadedConfig, "config">): Promise<Finding[]> {
  const { enabled, endpoint, headers = {} } = config.diagnostics.otel;
  if (!enabled) return [];
  const url = tracesUrl(endpoint);
  const problem = await problemAt(url, headers);
  const address = shownAddress(url);
  const subject = "traces";
  return problem === null
    ? [{ level: "ok", code: "traces", subject, text: `the collector at ${address} takes them` }]
    : [
        {
          ...{ level: "warning", code: "traces-lost", subject },
          text: `they are lost: ${problem} at ${address}; start the collector, or correct diagnostics.otel; the log says how many spans were lost`,
        },
      ];
}

/** An empty list of spans is taken by every collector. Null: it was. */
async function problemAt(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<string | null> {
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ resourceSpans: [] }),
      redirect: "manual",
      signal: AbortSignal.timeout(PROBE_MS),
    });
    await answer.body?.cancel();
    return answer.ok ? null : `HTTP ${answer.status}`;
  } catch {
    return "nothing answers";
  }
}
