// Whether the engine that answers has tools of its own for what is no longer shown.
import { pluginOf } from "@clew/engine-core";
import { pluginIdOf } from "./beside-engine.ts";
import type { OwnedTool } from "./tools.ts";

/** Under this name engines offer a search of all that a session ever said. */
const SEARCH = "lcm_grep";

/** Pure. True: two more tools for the same would only make a model choose. */
export function engineRecalls({
  owner,
  tools,
  offered,
}: {
  /** Of the engine, as it was registered. */
  owner: string;
  /** Of all plugins. */
  tools: readonly Pick<OwnedTool, "pluginId" | "declared">[];
  /** What the session is offered beside the host's two. */
  offered: readonly { name: string }[];
}): boolean {
  const engineOf = pluginOf(owner);
  return (
    engineOf !== undefined &&
    tools.some(
      ({ pluginId, declared }) =>
        pluginIdOf(pluginId) === pluginIdOf(engineOf) && declared.includes(SEARCH),
    ) &&
    offered.some(({ name }) => name === SEARCH)
  );
}
