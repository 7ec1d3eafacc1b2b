// Exports what a host's own stores are checked with, whatever the test runner.
export type {
  BegunSuccessor,
  OpenedTranscript,
  TranscriptStoreUnderTest,
} from "./testing/store-under-test.ts";
export {
  type TestTranscriptStoreOptions,
  testTranscriptStore,
} from "./testing/transcript-store.ts";
