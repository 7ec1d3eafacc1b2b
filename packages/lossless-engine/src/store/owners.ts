// Tells whose sessions a database holds, and gives them to others.
import { sealing } from "./seals.ts";
import type { Store } from "./store.ts";

/** Without those of whom nothing was noted: they are of whoever goes on with them. */
export const ownersOf = (store: Store): readonly string[] =>
  store.read((sql) =>
    sql("SELECT DISTINCT owner FROM transcript WHERE owner IS NOT NULL ORDER BY owner")
      .all()
      .map(({ owner }) => String(owner)),
  );

export const moveOwners = (
  store: Store,
  moves: readonly { readonly from: string; readonly to: string }[],
): void =>
  store.change((sql) => {
    for (const { from, to } of moves)
      sealing(sql, { table: "transcript", where: "owner = ?", values: [from] }, () =>
        sql("UPDATE OR IGNORE transcript SET owner = ? WHERE owner = ?").run(to, from),
      );
  });
