// Makes the memory section of a system prompt, within bounds.
import type { MemoryPromptBuilder, MemoryPromptParams } from "@clew/plugin-sdk/core";
import { within } from "@clew/plugin-sdk/host";
import { bytesOf, describeBytes } from "../../limits/size.ts";
import { messageOf } from "../invalid.ts";
import type { RunAs } from "../load/running.ts";
import type { ActiveMemory, OwnedSupplement } from "./choose-memory.ts";
import { isPromise, takeLines } from "./memory-answers.ts";

/** A memory that hangs must not hold up a reply for long, ms. */
const SECTION_MS = 5_000;

/** One plugin whose lines are missing, all or some, and why. */
export interface SectionProblem {
  plugin: string;
  reason: string;
}

export interface MemorySection {
  /** Of the chosen memory first, then of the supplements. */
  lines: string[];
  problems: SectionProblem[];
}

export interface SectionBounds {
  runAs: RunAs;
  /** Of one plugin's lines; more than that, and none of them is taken. */
  limitBytes: number;
  /** Absent: SECTION_MS. */
  boundMs?: number;
  /** Ends the wait. Absent: nothing does. */
  signal?: AbortSignal | undefined;
}

type Contributor = OwnedSupplement;

/** All are asked at once, and each has the same time. Rejects with the reason of an abort only. */
export async function prepareSection(
  memory: ActiveMemory,
  params: MemoryPromptParams,
  bounds: SectionBounds,
): Promise<MemorySection> {
  const parts = await Promise.all(
    contributorsOf(memory).map((contributor) => linesWithin(contributor, params, bounds)),
  );
  return together(parts);
}

/** The same at once: what would have to be waited for is left out (contract §5). */
export function buildSection(
  memory: ActiveMemory,
  params: MemoryPromptParams,
  { runAs, limitBytes }: Pick<SectionBounds, "runAs" | "limitBytes">,
): MemorySection {
  const parts = contributorsOf(memory).map(({ pluginId, builder }) => {
    try {
      const given: unknown = runAs(pluginId, () => builder(params));
      return isPromise(given) ? together([]) : partOf(pluginId, given, limitBytes);
    } catch (error) {
      return failed(pluginId, messageOf(error));
    }
  });
  return together(parts);
}

function contributorsOf({ chosen, supplements }: ActiveMemory): Contributor[] {
  const builder: MemoryPromptBuilder | undefined = chosen?.capability.promptBuilder;
  const first = chosen === null || builder === undefined ? [] : [{ ...chosen, builder }];
  return [...first, ...supplements];
}

async function linesWithin(
  { pluginId, builder }: Contributor,
  params: MemoryPromptParams,
  { runAs, limitBytes, boundMs = SECTION_MS, signal }: SectionBounds,
): Promise<MemorySection> {
  const onTimeout = () => {
    throw new Error(`it was not there within ${boundMs / 1000} s`);
  };
  try {
    const given = await within<unknown>({ boundMs, signal, onTimeout }, () =>
      runAs(pluginId, () => builder(params)),
    );
    return partOf(pluginId, given, limitBytes);
  } catch (error) {
    signal?.throwIfAborted();
    return failed(pluginId, messageOf(error));
  }
}

function partOf(plugin: string, given: unknown, limitBytes: number): MemorySection {
  const { value: lines, wrong } = takeLines(given);
  const bytes = bytesOf(lines) + lines.length;
  return bytes <= limitBytes
    ? { lines, problems: wrong === null ? [] : [{ plugin, reason: wrong }] }
    : failed(
        plugin,
        `it has ${describeBytes(bytes)}, and at most ${describeBytes(limitBytes)} are taken (gateway.limits.hookBytes, and a quarter of the window), so nothing of it was added`,
      );
}

const failed = (plugin: string, reason: string): MemorySection => ({
  lines: [],
  problems: [{ plugin, reason }],
});

const together = (parts: readonly MemorySection[]): MemorySection => ({
  lines: parts.flatMap(({ lines }) => lines),
  problems: parts.flatMap(({ problems }) => problems),
});
