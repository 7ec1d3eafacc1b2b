// Keeps what is known of child sessions in PostgreSQL, for all gateways.
import type { PostgresReader, PostgresStore } from "@clew/store-postgres";
import { fromJson, toJson } from "../../own-json.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { type Child, ChildSchema } from "../../subagents/child.ts";
import type { SharedChildren } from "../../subagents/shared-children.ts";

type Reader = Pick<PostgresReader<never>, "children">;

export function createChildRows(
  store: Reader & Partial<Pick<PostgresStore<never>, "putChild" | "removeChild">>,
): SharedChildren {
  const nameOf = ({ key: given }: Child) => {
    const { agentId, key } = requireSessionName(given);
    return { agentId, key };
  };
  return {
    async all(onUnreadable) {
      return (await store.children()).flatMap(({ key, body, lives }) => {
        const child = parsed(body);
        if (child === undefined) onUnreadable(`the row "${key}" of child`);
        return child === undefined ? [] : [{ child, lives }];
      });
    },
    put: async (child) => store.putChild?.({ ...nameOf(child), body: toJson(child) }),
    remove: async (child) => store.removeChild?.(nameOf(child)),
  };
}

function parsed(body: string): Child | undefined {
  try {
    return ChildSchema.safeParse(fromJson(body)).data;
  } catch {
    return undefined;
  }
}
