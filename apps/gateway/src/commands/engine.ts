// The command `/engine`, and the other chance it gives.
import { counted } from "../text/number.ts";
import type { CommandAnswer, CommandSession, EngineRetry } from "./answer.ts";

export type EngineRequest =
  | { kind: "show" }
  | { kind: "retry" }
  | { kind: "unknown"; args: string };

/** Pure. "" or "retry". */
export function parseEngine(args: string): EngineRequest {
  const word = args.trim().toLowerCase();
  if (word === "") return { kind: "show" };
  return word === "retry" ? { kind: "retry" } : { kind: "unknown", args };
}

export async function runEngine(
  request: EngineRequest,
  session: CommandSession,
): Promise<Omit<CommandAnswer, "command">> {
  switch (request.kind) {
    case "show":
      return { ok: true, text: await session.engine() };
    case "retry": {
      const data = await session.retryEngines();
      return { ok: true, text: describeRetry(data), data };
    }
    case "unknown":
      return {
        ok: false,
        text: `"/engine ${request.args}" is not known; "/engine" shows the engine, "/engine retry" gives it another chance in this session.`,
      };
  }
}

/** Pure. */
export function describeRetry({ turns, engines, stillAside }: EngineRetry): string {
  const lines = [
    ...engines.map((id) => `"${id}" is no longer set aside for this session.`),
    ...[...new Set(turns.map(({ engineId }) => engineId))].map((id) => {
      const offered = turns.filter(({ engineId }) => engineId === id).length;
      return `"${id}" will be offered ${counted(offered, "parked turn")} again.`;
    }),
    ...stillAside.map(
      ({ engineId, operation, reason }) =>
        `"${engineId}" stays set aside everywhere (${operation}: ${reason}); "clew plugins reload" gives it another chance.`,
    ),
  ];
  if (engines.length + turns.length > 0) return [...lines, "The next message tries it."].join("\n");
  return [...lines, "There is nothing to retry in this session."].join("\n");
}
