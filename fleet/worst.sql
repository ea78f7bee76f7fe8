-- The worst 20 episodes anywhere, and the recording to open: perfkit tail FILE.
SELECT episodes.duration_ns AS duration_ns, episodes.host AS host, recordings.file AS file,
	episodes.start_ns - recordings.origin_ns AS at_ns, episodes.kind AS kind, episodes.name AS name,
	episodes.comm AS comm, episodes.cause AS cause, episodes.root_comm AS root_comm,
	episodes.root_function AS root_function, episodes.root_ns AS root_ns
FROM episodes JOIN recordings ON recordings.recording = episodes.recording
ORDER BY duration_ns DESC, host, file, at_ns, kind, name
LIMIT 20;
