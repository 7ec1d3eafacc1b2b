// Audits the search indexes against the messages.
import { type AuditPart, type Fault, fault, orUnreadable } from "./fault.ts";

/** The indexes against the messages: whatever they are said to hold they hold. */
export function indexPart(): AuditPart {
  const faults: Fault[] = [];
  return {
    name: "search index",
    faults,
    read: 0,
    readOn(store) {
      return orUnreadable(faults, "index", "the search index", () =>
        store.read((sql) => {
          const newest = Number(sql("SELECT coalesce(max(seq), 0) AS seq FROM message").get()?.seq);
          const { indexed } = sql("SELECT indexed FROM watermark").get() ?? {};
          const lost = sql(`
            SELECT id FROM words_docsize WHERE id NOT IN (SELECT seq FROM message)
          `).all();
          const stray = sql(`
            SELECT message AS id FROM unindexed WHERE message NOT IN (SELECT seq FROM message)
          `).all();
          // Leaves end where the watermark says, gaps of numbers included.
          if (indexed === undefined || (newest > 0 && Number(indexed) >= newest + LEAF))
            faults.push(
              fault(
                "inconsistent",
                "index",
                null,
                "the search index says that it holds more messages than there are",
              ),
            );
          for (const { id } of [...lost, ...stray])
            faults.push(
              fault(
                "inconsistent",
                "index",
                Number(id),
                `the search index holds message ${id}, which is gone`,
              ),
            );
          return true;
        }),
      );
    },
  };
}

const LEAF = 32;
