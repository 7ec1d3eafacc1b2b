// What the store in PostgreSQL gets from the packages beside it.
import { createDeliveryLedger, type DeliveryLedger, type DeliveryLine } from "@clew/engine-core";
import type { StorePorts } from "@clew/store-postgres";
import { planRewrite } from "../../sessions/rewrite.ts";
import { searchTextOfLine } from "../../sessions/search/entry-text.ts";

export const POSTGRES_PORTS: StorePorts<DeliveryLedger> = {
  createLedger: createDeliveryLedger,
  planRewrite,
  searchText: searchTextOfLine,
};

/**
 * Engines keep what they were told in files of a home: what one acknowledged there says nothing of
 * the same engine elsewhere. So the record of each engine is of one home.
 */
export function portsOfHome(homeId: string): StorePorts<DeliveryLedger> {
  const ofHome = engineOfHome(homeId);
  return {
    ...{ planRewrite, searchText: searchTextOfLine },
    createLedger({ earlier, write }) {
      const ledger = createDeliveryLedger({
        earlier: ofHome.known(earlier),
        write: (engineId, change) => write(ofHome.name(engineId), change),
      });
      return { ...ledger, take: (lines) => ledger.take(ofHome.known(lines)) };
    },
  };
}

/** How engines of a home are named in the record of a session. */
export function engineOfHome(homeId: string) {
  const end = `@${homeId}`;
  return {
    name: (engineId: string): string => `${engineId}${end}`,
    /** Those of this home, by the names that they have there. */
    known: (lines: Iterable<DeliveryLine>): DeliveryLine[] =>
      [...lines].flatMap(({ engineId, change }) =>
        engineId.endsWith(end) ? [{ engineId: engineId.slice(0, -end.length), change }] : [],
      ),
  };
}
