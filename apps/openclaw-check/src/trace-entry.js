// Writes down each call of a plugin's engines, and otherwise is that plugin.

import entry from "PLUGIN_ENTRY";
import { appendFileSync } from "node:fs";

const file = process.env.PLUGIN_TRACE;
const note = (call) => file && appendFileSync(file, `${JSON.stringify(call)}\n`);

function watched(engine) {
  const delegates = globalThis[Symbol.for("openclaw.runtimeCompactionDelegates")];
  const methods = Object.entries(engine).flatMap(([name, method]) => {
    if (name === "info" || typeof method !== "function") return [];
    const call = async (...given) => {
      const made = { method: name, given: given[0]?.messages?.length };
      try {
        const answer = await method.apply(engine, given);
        note({ ...made, answer: answer?.messages?.length, status: answer?.status });
        return answer;
      } catch (error) {
        note({ ...made, error: String(error) });
        throw error;
      }
    };
    // Hosts know their own compaction by the function.
    if (delegates?.has(method)) delegates.add(call);
    return [[name, call]];
  });
  return Object.defineProperty(Object.fromEntries(methods), "info", {
    get: () => engine.info,
    enumerable: true,
  });
}

export default {
  ...entry,
  register(api) {
    const registerContextEngine = (id, factory) =>
      api.registerContextEngine(id, async (...given) => {
        note({ method: "factory" });
        return watched(await factory(...given));
      });
    return entry.register(
      Object.create(api, { registerContextEngine: { value: registerContextEngine } }),
    );
  },
};
