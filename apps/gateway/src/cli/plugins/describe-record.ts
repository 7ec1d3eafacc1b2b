// Says in lines what a plugin registered as it was loaded.
import type { PluginRecord } from "../../plugins/load/record.ts";

/** Pure. */
export function describeRecord(record: PluginRecord): string[] {
  const { id, status, reason, diagnostics } = record;
  if (status !== "loaded") return [`${id}: ${status}: ${reason}`];
  const parts = [
    ["engines", record.engines],
    // A gateway of an earlier version does not tell of them.
    ["tools", record.registeredTools ?? []],
    ["commands", record.commands.map((word) => `/${word}`)],
    ["hooks", record.hooks],
    ["session actions", record.sessionActions],
    ["skills", record.skills],
    ["services", record.services],
    ["programs", record.programs.map((words) => `clew ${words}`)],
    ["HTTP routes", record.routes],
    ["methods", record.methods],
  ] as const;
  const has = [
    ...parts
      .filter(([, list]) => list.length > 0)
      .map(([name, list]) => `${name} ${list.join(", ")}`),
    ...(record.memory ? ["a memory"] : []),
  ];
  return [
    `${id}: loaded${has.length > 0 ? `; ${has.join("; ")}` : ""}`,
    ...diagnostics.map(({ level, message }) => `${id}: ${level}: ${message}`),
  ];
}
