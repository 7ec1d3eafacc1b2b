// What can happen to a session, as fast-check commands that check every law afterwards.
import { messageId } from "@clew/plugin-sdk/core";
import fc from "fast-check";
import { MODEL } from "../../__fixtures__/host.ts";
import type { FailurePolicy } from "../../index.ts";
import {
  currentSession,
  type Disk,
  type DiskOptions,
  emptyDisk,
  messageEntries,
  readBranch,
  recordOf,
  storeOf,
} from "./disk.ts";
import type { OpenTranscript } from "./disk-transcript.ts";
import { type EngineShape, readsThePast } from "./engine-shape.ts";
import { type Acquaintance, compactFaults, deliveryFaults, turnFaults } from "./invariants.ts";
import {
  type Facts,
  startProcess,
  type TestProcess,
  type TurnOutcome,
  type TurnPlan,
} from "./test-process.ts";

/** A session, the engines that may serve it, and the process that runs it now. */
export interface World {
  disk: Disk;
  process: TestProcess;
  known: Map<string, Acquaintance>;
  /** Engines that failed since they were last registered. */
  failed: Set<string>;
  setup: WorldSetup;
  turns: number;
}

export interface WorldSetup extends DiskOptions {
  engines: readonly EngineShape[];
  policy: FailurePolicy;
  /** Engine id in the slot at first. Absent: the first engine. */
  first?: string;
  /** Tokens of the model's window. */
  window: number;
  /** How long reads of the transcript take, one after the other. Absent: no time. */
  pace?: readonly number[];
  /** Where transcripts are. Absent: on the disk. */
  open?: OpenTranscript;
}

export function openWorld(setup: WorldSetup): World {
  const world = {
    disk: emptyDisk(setup),
    setup,
    turns: 0,
    failed: new Set<string>(),
  } as World;
  world.known = new Map(
    setup.engines.map((shape) => [shape.id, { shape, before: undefined, isSettled: false }]),
  );
  restart(world, setup.first ?? setup.engines[0]!.id);
  return world;
}

export function restart(world: World, configured: string): void {
  const { engines, policy, window, pace, open } = world.setup;
  world.failed.clear();
  for (const { id } of engines) storeOf(world.disk, id).hangs.clear();
  world.process = startProcess(world.disk, {
    engines,
    policy,
    configured,
    ...{ pace, open },
    model: { ...MODEL, contextWindow: window },
    nextTurn: () => world.turns++,
  });
}

/** Throws one error with every law that does not hold now. */
export function checkWorld(world: World, faults: readonly string[] = []): void {
  const all = [
    ...faults,
    ...[...world.known.values()]
      // Who answers in another's place keeps a store of its own.
      .filter(({ shape }) => shape.instead === undefined)
      .flatMap((engine) => deliveryFaults(world.disk, engine)),
  ];
  if (all.length > 0) throw new Error(`\n  ${[...new Set(all)].join("\n  ")}\n`);
}

/** One turn; a process that died in it is followed by another. */
export async function say(world: World, plan: TurnPlan): Promise<TurnOutcome> {
  const engine = world.known.get(world.process.configured());
  const isNew = engine !== undefined && engine.before === undefined;
  if (isNew) meet(world, engine, idsNow(world));
  const turn = await world.process.say(plan);
  if (isNew && !hasMet(world, engine.shape)) meet(world, engine, undefined);
  const { result, facts } = turn;
  if (engine !== undefined)
    engine.isSettled =
      result?.outcome === "completed" &&
      result.report.engine.ran === engine.shape.id &&
      result.report.engine.degraded === null &&
      facts.mishapAt === undefined;
  for (const other of world.known.values()) if (other !== engine) other.isSettled = false;
  if (!world.process.isAlive()) restart(world, world.process.configured());
  return turn;
}

/**
 * One that was set aside before it was asked anything has not seen the session yet. Neither has one
 * whose look was cut short, where it looks again: it reads a file, which this host does not keep.
 */
function hasMet({ disk, process }: World, { id, instead }: EngineShape): boolean {
  const isAsked = process.steps().some((name) => name.startsWith(`engine ${id} `));
  return isAsked && (instead === undefined || disk.deliveries.knows(recordNow(disk), id));
}

const recordNow = (disk: Disk) => recordOf(disk, currentSession(disk));

function meet(
  { disk }: World,
  engine: Acquaintance,
  before: ReadonlySet<string> | undefined,
): void {
  engine.before = before;
  if (!readsThePast(engine.shape)) storeOf(disk, engine.shape.id).before = before ?? new Set();
}

const idsNow = ({ disk }: World): ReadonlySet<string> =>
  new Set(
    messageEntries(readBranch(disk, currentSession(disk).sessionFile)).flatMap(
      ({ message }) => messageId(message) ?? [],
    ),
  );

type Command = fc.AsyncCommand<object, World>;

const command = (name: string, run: (world: World) => Promise<void>): Command => ({
  check: () => true,
  run: (_model, world) => run(world),
  toString: () => name,
});

const turnCommand = (plan: TurnPlan) =>
  command(`say ${shown(plan)}`, async (world) => {
    const configured = world.process.configured();
    const shape = world.known.get(configured)?.shape;
    const sound = world.failed.has(configured) ? undefined : configured;
    const before = hanging(world);
    const turn = await say(world, plan);
    noteFailures(world, turn.facts, plan);
    checkWorld(world, [
      ...(turn.facts.mishapAt === undefined ? neverStopped(world, before) : []),
      ...turnFaults(world.disk, turn, {
        wasRewritten: shape?.inBackground ?? false,
        isTight: world.setup.window < 1000,
        sound,
        tidies: shape?.inBackground,
      }),
    ]);
  });

/** Maintenance that has not ended, by engine. */
const hanging = ({ disk, setup }: World) =>
  setup.engines.flatMap(({ id }) => [...storeOf(disk, id).hangs].map((hang) => ({ id, hang })));

/** Who waits for maintenance tells it to stop in the end. */
const neverStopped = (world: World, before: ReturnType<typeof hanging>) =>
  before
    .filter(({ id, hang }) => storeOf(world.disk, id).hangs.has(hang))
    .map(({ id }) => `maintenance of ${id} was not told to stop before the turn went on`);

/** A slip is made good in the same turn; with `retry-next-turn` all is forgotten by the next. */
function noteFailures(
  { failed, setup }: World,
  { engineCalls }: Facts,
  { mishap }: Pick<TurnPlan, "mishap">,
): void {
  if (setup.policy === "retry-next-turn" || mishap?.kind === "slip") return;
  for (const { engineId, ok } of engineCalls) if (!ok) failed.add(engineId);
}

const compactCommand = (plan: Pick<TurnPlan, "mishap">) =>
  command(`/compact ${shown(plan)}`, async (world) => {
    const { process } = world;
    const done = await process.compact(plan);
    noteFailures(world, done.facts, plan);
    if (!process.isAlive()) restart(world, process.configured());
    for (const engine of world.known.values()) engine.isSettled = false;
    checkWorld(world, compactFaults(done));
  });

const useCommand = (engineId: string) =>
  command(`use ${engineId}`, async ({ process }) => process.use(engineId));

const reloadCommand = (index: number) =>
  command(`reload ${index}`, async ({ process, setup, failed }) => {
    process.reload(setup.engines[index]!);
    failed.delete(setup.engines[index]!.id);
  });

const restartCommand = (inOrder: boolean) =>
  command(inOrder ? "restart" : "kill and restart", async (world) => {
    if (inOrder) await world.process.stop();
    restart(world, world.process.configured());
  });

const goBackCommand = (turns: number) =>
  command(`leave the last ${turns} turns`, async (world) => {
    await world.process.goBack(turns);
    checkWorld(world);
  });

/** Only what is not ordinary, so that a counterexample is short to read. */
function shown(plan: Partial<TurnPlan>): string {
  const { kind, tools, oneByOne, failure, mishap, wish, hangs, isSentAgain } = plan;
  return [
    kind !== "user" && kind,
    tools && `${tools} tools${oneByOne && tools > 1 ? " one by one" : ""}`,
    failure && `call ${failure.call} fails: ${failure.kind}${failure.partial ? " after text" : ""}`,
    mishap && `${mishap.kind} at step ${mishap.at}`,
    wish && `rewrites message −${wish.fromEnd}${wish.isBare ? " bare" : ""}`,
    hangs && "maintenance hangs",
    isSentAgain && "sent again",
  ]
    .filter(Boolean)
    .join(", ");
}

const mishap = fc.record({
  at: fc.oneof(fc.nat({ max: 12 }), fc.nat({ max: 30 }), fc.nat({ max: 60 })),
  kind: fc.constantFrom("abort", "crash", "slip", "break", "reload"),
} as const);

const failure = fc.record({
  call: fc.nat({ max: 2 }),
  kind: fc.oneof(
    fc.constant("overflow" as const),
    fc.constantFrom("timeout", "unavailable", "auth", "aborted"),
  ),
  partial: fc.boolean(),
} as const);

const turnPlan: fc.Arbitrary<TurnPlan> = fc.record({
  kind: fc.oneof(
    { weight: 4, arbitrary: fc.constant("user" as const) },
    { weight: 2, arbitrary: fc.constant("heartbeat" as const) },
    { weight: 1, arbitrary: fc.constant("cron" as const) },
  ),
  tools: fc.nat({ max: 3 }),
  oneByOne: fc.boolean(),
  failure: fc.option(failure, { nil: undefined, freq: 3 }),
  mishap: fc.option(mishap, { nil: undefined, freq: 2 }),
  wish: fc.option(fc.record({ fromEnd: fc.nat({ max: 6 }), isBare: fc.boolean() }), {
    nil: undefined,
    freq: 3,
  }),
  hangs: fc.nat({ max: 9 }).map((one) => one === 9),
  isSentAgain: fc.nat({ max: 9 }).map((one) => one === 9),
});

/** Random lives of a session with the given engines. */
export const commands = (engineIds: readonly string[]) =>
  fc.commands(
    [
      turnPlan.map(turnCommand),
      turnPlan.map(turnCommand),
      turnPlan.map(turnCommand),
      fc.record({ mishap: fc.option(mishap, { nil: undefined, freq: 2 }) }).map(compactCommand),
      fc.constantFrom(...engineIds, "legacy").map(useCommand),
      fc.nat({ max: engineIds.length - 1 }).map(reloadCommand),
      fc.boolean().map(restartCommand),
      fc.integer({ min: 1, max: 3 }).map(goBackCommand),
    ],
    { maxCommands: 14 },
  );

const shapeOf = (id: string, fixed: Partial<EngineShape>): fc.Arbitrary<EngineShape> =>
  fc
    .record({
      compacts: fc.constantFrom(
        "delegates",
        "covers",
        "moves",
        "moves what it knows",
        "moves prompts",
      ),
      ownsCompaction: fc.boolean(),
      returns: fc.constantFrom("given", "copies"),
      inBackground: fc.boolean(),
      takes: fc.constantFrom("afterTurn", "ingestBatch", "ingest"),
      bootstraps: fc.constantFrom("once", "always", "newest"),
      manners: fc.constantFrom("careful", "careful", "strict", "rough", "strict and rough"),
    } as const)
    .map((shape) => ({ ...shape, id, ...fixed }));

/** An eager engine that reads the transcript, one that does not, and a durable one. */
export const setups: fc.Arbitrary<WorldSetup> = fc.record({
  engines: fc.tuple(
    shapeOf("reads", {}),
    shapeOf("given", { bootstraps: "never" }),
    fc
      .tuple(shapeOf("durable", { takes: "commitTurn" }), fc.boolean())
      .map(([shape, reads]) => (reads ? shape : { ...shape, bootstraps: "never" as const })),
  ),
  first: fc.constantFrom("reads", "given", "durable", "legacy"),
  policy: fc.constantFrom("quarantine", "retry-next-turn"),
  window: fc.constantFrom(100_000, 100_000, 400),
  recordsBy: fc.constantFrom("session", "transcript"),
  storesSteps: fc.boolean(),
  tellsFiles: fc.constantFrom(true, true, false),
  pace: fc.array(fc.oneof(fc.constant(0), fc.nat({ max: 60 })), { maxLength: 7 }),
} as const);
