// The error of a file that cannot be read or written.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { type StoragePlace, storageAdvice, storageReason } from "./storage-reason.ts";

/** `what` begins the sentence: what could not be done. `place`: absent = the home. */
export const storageFailed = (
  what: string,
  error: unknown,
  place?: StoragePlace,
): ContextEngineError =>
  new ContextEngineError(
    "STORAGE_FAILED",
    `${what}: ${storageReason(error, place)}; ${storageAdvice(error, place)} and try again.`,
    { cause: error },
  );
