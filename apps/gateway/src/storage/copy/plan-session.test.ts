import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Copied, type InDatabase, type InFiles, planSession } from "./plan-session.ts";

/** A session on both sides, as lists of what was said. */
interface Sides {
  files: { said: string[]; key: string; label: string | null; notes: number };
  database: { said: string[]; key: string; label: string | null; step: number } | null;
  copied: Copied | null;
}

type Act =
  | { kind: "say"; where: "files" | "database" | "both"; text: string }
  | { kind: "name"; where: "files" | "database"; key: string }
  | { kind: "label"; where: "files" | "database"; label: string | null }
  | { kind: "note" }
  | { kind: "remove" }
  | { kind: "copy" };

const where = fc.constantFrom("files" as const, "database" as const);
const text = fc.constantFrom("a", "b", "c");
const acts = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant("say" as const),
      where: fc.constantFrom("files" as const, "database" as const, "both" as const),
      text,
    }),
    fc.record({ kind: fc.constant("name" as const), where, key: text }),
    fc.record({ kind: fc.constant("label" as const), where, label: fc.option(text) }),
    fc.constant<Act>({ kind: "note" }),
    fc.constant<Act>({ kind: "remove" }),
    { arbitrary: fc.constant<Act>({ kind: "copy" }), weight: 3 },
  ) as fc.Arbitrary<Act>,
  { maxLength: 14 },
);

const printOf = ({ said, notes }: Sides["files"]) => JSON.stringify([said, notes]);

function planOf({ files, database, copied }: Sides) {
  const common = files.said.findIndex((each, at) => each !== database?.said[at]);
  const most = Math.min(files.said.length, database?.said.length ?? 0);
  const { key, label } = files;
  return planSession({
    files: { key, label, print: printOf(files), head: files.said.length } satisfies InFiles,
    database: database && ({ ...database, head: database.said.length } satisfies InDatabase),
    copied,
    common: common < 0 ? most : Math.min(common, most),
  });
}

function act(sides: Sides, each: Act): Sides {
  const { files, database } = sides;
  if (each.kind === "note") return { ...sides, files: { ...files, notes: files.notes + 1 } };
  if (each.kind === "remove") return { ...sides, database: null };
  if (each.kind === "copy") {
    const plan = planOf(sides);
    if (plan.kind !== "copy") return sides;
    const said = [
      ...(database?.said.slice(0, plan.stored) ?? []),
      ...files.said.slice(plan.stored),
    ];
    const step = (database?.step ?? 0) + 1;
    return {
      ...{ files, database: { said, ...plan.names, step } },
      copied: { print: printOf(files), step, key: files.key, label: files.label },
    };
  }
  const inFiles = each.kind !== "say" || each.where !== "database";
  const change = <Side extends { said: string[]; key: string; label: string | null }>(
    side: Side,
  ): Side => {
    if (each.kind === "say") return { ...side, said: [...side.said, each.text] };
    return each.kind === "name" ? { ...side, key: each.key } : { ...side, label: each.label };
  };
  const inDatabase = each.where !== "files" && database !== null;
  return {
    ...sides,
    files: inFiles && each.where !== "database" ? change(files) : files,
    database: inDatabase
      ? {
          ...change(database),
          // A step stores something; a name is beside the steps.
          step: database.step + (each.kind === "say" ? 1 : 0),
        }
      : database,
  };
}

const fresh: Sides = {
  files: { said: ["a"], key: "main", label: null, notes: 0 },
  database: null,
  copied: null,
};

const startsWith = (whole: readonly string[], beginning: readonly string[]) =>
  beginning.every((each, at) => whole[at] === each);

describe("what a copy into a database does with a session", () => {
  it("loses nothing that one side has alone, whatever came before", () => {
    fc.assert(
      fc.property(acts, (list) => {
        let sides = fresh;
        for (const each of list) {
          const next = act(sides, each);
          if (each.kind === "copy" && sides.database !== null && next.database !== null)
            expect(startsWith(next.database.said, sides.database.said)).toBe(true);
          if (each.kind === "copy" && sides.database === null && sides.copied !== null)
            expect(next.database).toBe(null);
          sides = next;
        }
      }),
    );
  });

  it("comes to what the files have, or says why not", () => {
    fc.assert(
      fc.property(acts, (list) => {
        const before = list.reduce(act, fresh);
        const plan = planOf(before);
        const after = act(before, { kind: "copy" });
        const { files, database } = after;
        if (plan.kind === "copy" || plan.kind === "same")
          expect(database?.said).toEqual(files.said);
        if (plan.kind === "conflict" && plan.why === "both") {
          expect(startsWith(files.said, before.database!.said)).toBe(false);
        }
        if (plan.kind === "ahead") expect(after).toBe(before);
        // Once more changes nothing.
        expect(["copy"]).not.toContain(plan.kind === "copy" ? planOf(after).kind : "same");
      }),
    );
  });

  it("takes the name of the side that gave a new one", () => {
    const copied = act(fresh, { kind: "copy" });
    const renamed = act(copied, { kind: "name", where: "database", key: "b" });
    const grown = act(renamed, { kind: "say", where: "files", text: "b" });
    expect(planOf(grown)).toMatchObject({ kind: "copy", stored: 1, names: { key: "b" } });
    const both = act(grown, { kind: "name", where: "files", key: "c" });
    expect(planOf(both)).toEqual({ kind: "conflict", why: "names" });
  });
});
