// Which names tools of engines have, also of engines that are not loaded.
import type { FoundPlugin } from "./discover.ts";

/**
 * Pure. By the manifests. `owners`: plugins that are known to have registered an engine, whatever
 * their manifests say they are.
 */
export function toolsOfEngines(
  found: readonly Pick<FoundPlugin, "id" | "result">[],
  owners: readonly string[],
): ReadonlySet<string> {
  const bringing = new Set(owners);
  return new Set(
    found.flatMap(({ id, result }) => {
      if (!result.ok) return [];
      const { kind, contracts } = result.files.manifest;
      const kinds = [kind ?? []].flat();
      const bringsEngine = bringing.has(id) || kinds.includes("context-engine");
      return bringsEngine ? (contracts?.tools ?? []) : [];
    }),
  );
}
