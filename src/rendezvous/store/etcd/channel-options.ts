import type { AnswerTime } from "./answer-times.js";

/** gRPC's options for a connection. */
export function channelOptions({ withinMs }: AnswerTime) {
	return {
		"grpc.keepalive_timeout_ms": withinMs,
		"grpc.max_receive_message_length": -1,
		"grpc.keepalive_time_ms": 5_000,
		"grpc.initial_reconnect_backoff_ms": 100,
		"grpc.max_reconnect_backoff_ms": 500,
		"grpc.enable_http_proxy": 0,
		"grpc.enable_channelz": 0,
		"grpc.service_config_disable_resolution": 1,
		// One name may stand for several members: a second try gets another of them.
		"grpc.service_config": JSON.stringify({
			loadBalancingConfig: [{ pick_first: { shuffleAddressList: true } }],
		}),
	};
}
