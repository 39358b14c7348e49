/** The form of a broker's definition. Each broker has a file in `brokers/`; src/contract/brokers.ts lists them. */

/** How a message gives a time: as a modified Julian date in TAI, as ISO 8601 text in UTC, or as Unix seconds. */
export type TimeForm = 'mjdTai' | 'utcText' | 'unixSeconds';

/** The keys of a message that is one flat JSON object. */
export interface FlatMessage {
  /** Only under such a key does src/ingest/json.ts keep every digit of a number. */
  readonly diaObjectId: `${string}diaObjectId`;
  readonly ra: string;
  readonly dec: string;
  readonly reliability: string;
  /** The first one that the message has is the event time; without any, the time of receipt is. */
  readonly eventTime: readonly (readonly [form: TimeForm, key: string])[];
}

/** One broker: everything that is said of it, and how its messages are read where they are flat. */
export interface BrokerDefinition {
  /** Lowercase letters. The names of its settings begin with it in upper case. */
  readonly name: string;
  /** As the broker writes its name. */
  readonly title: string;
  readonly home: string;
  /** Who drops alerts of low reliability: the broker, whose cut is declared in the settings, or this service. */
  readonly cut: 'declared' | 'service';
  /** The default address of its page about an object, with `{diaObjectId}`; undefined where it has none. */
  readonly objectPage?: string;
  /** What stands beside the link to `home` on an object's page, where there is no page about the object. */
  readonly homeRemark?: string;
  /** Where it is a Kafka cluster: the servers to begin with. Any other transport has its own code in src/consume/feeds.ts. */
  readonly kafkaServers?: readonly string[];
  /** The settings of its transport beside those that every Kafka cluster has, for the help of `nearsky consume`: one line each. */
  readonly otherSettings?: readonly string[];
  /** Undefined where messages are not flat: they have a normaliser in src/ingest/. */
  readonly message?: FlatMessage;
}
