// Has the running gateway load its plugins again, and prints what came of it.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { describeMissing } from "../../gateway-client.ts";
import type { PluginRecord } from "../../plugins/load/record.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import type { Shell } from "../../terminal/shell.ts";
import { lookUpGateway } from "../operate/look-up.ts";
import { describeRecord } from "./describe-record.ts";
import { printLines } from "./print-lines.ts";

type Flags = Record<string, boolean | undefined>;

const RELOAD_MS = 10 * 60_000;

export async function reload({ json }: Flags, { environment, output }: Shell): Promise<number> {
  const lookup = await lookUpGateway(environment);
  if (lookup.kind !== "running")
    throw unreachable(
      `Nothing was reloaded: ${describeMissing(lookup)}; plugins are loaded when one starts.`,
    );
  const { url, request } = lookup.gateway;
  const answer = await request("/api/plugins/reload", { method: "POST", timeoutMs: RELOAD_MS });
  const body = answer?.body as
    | { plugins?: PluginRecord[]; error?: { code: string; message: string } }
    | undefined;
  if (body?.plugins === undefined) {
    const { error } = body ?? {};
    if (error === undefined)
      throw unreachable(
        `Nobody knows whether the plugins were reloaded: ${url} did not answer in time; see its log.`,
      );
    output.note(`clew: Nothing was reloaded: ${error.message} [${error.code}]`);
    return EXIT.failed;
  }
  if (json) output.json(body);
  else printLines(output, [`Reloaded at ${url}.`, ...body.plugins.flatMap(describeRecord)]);
  return body.plugins.some(({ status }) => status === "error") ? 1 : 0;
}

const unreachable = (message: string) => new ContextEngineError("GATEWAY_UNREACHABLE", message);
