/** The type of a broker's definition. Each broker has a file in `brokers/`; src/core/contract/brokers.ts lists them. */

/** The form of a time in a message: a modified Julian date in TAI, ISO 8601 text in UTC, or Unix seconds. */
export type TimeForm = 'mjdTai' | 'utcText' | 'unixSeconds';

/** The keys of a message that is one flat JSON object. */
export interface FlatMessage {
  /**
   * The key of the id. It must end in `diaObjectId`, because src/core/base/json_reader.ts keeps every digit of a number only
   * under such keys.
   */
  readonly diaObjectId: `${string}diaObjectId`;
  readonly ra: string;
  readonly dec: string;
  /** 1σ errors of the position, degrees, that of ra times cos(dec); undefined if no message has them. */
  readonly raError?: string;
  readonly decError?: string;
  readonly reliability: string;
  /**
   * Keys of times. The first one that the message has is the event time; if it has none, the time of receipt is used.
   */
  readonly eventTime: readonly (readonly [form: TimeForm, key: string])[];
}

/** One broker: all facts about it, and the keys of its messages if they are flat. */
export interface BrokerDefinition {
  /** Lowercase letters. In upper case, it is the prefix of the broker's settings. */
  readonly name: string;
  /** The name in the broker's own spelling. */
  readonly title: string;
  readonly home: string;
  /**
   * Who drops alerts of low reliability: this service, or the broker, whose minimum is then declared in the settings.
   */
  readonly cut: 'declared' | 'service';
  /** The minimum that is declared by default, and its date; undefined if none is known. */
  readonly declared?: { readonly minReliability: number; readonly asOf: string };
  /**
   * The default address of the broker's page about an object, with `{diaObjectId}`; undefined if it has no such page.
   */
  readonly objectPage?: string;
  /** Text beside the link to `home` on an object's page, if the broker has no page about the object. */
  readonly homeRemark?: string;
  /**
   * The first servers to contact, if the broker is a Kafka cluster. Any other transport has its own code in
   * src/capabilities/consume/feeds.ts.
   */
  readonly kafkaServers?: readonly string[];
  /**
   * Settings of the transport that other Kafka clusters do not have, one line each, for the help of `nearsky consume`.
   */
  readonly otherSettings?: readonly string[];
  /** The keys of flat messages; undefined for other messages, which have their own normaliser in src/capabilities/ingest/. */
  readonly message?: FlatMessage;
}
