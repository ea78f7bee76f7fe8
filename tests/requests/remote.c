/*
 * remote LOG - a client whose answers come from the network: the other end sends 6,000 bytes,
 * which the kernel paces (SO_MAX_PACING_RATE), so that a timer's softirq delivers them as a
 * network card would, and no thread is seen to wake the client. "request": from send to the
 * last byte.
 */
#include "requests.h"

enum { ANSWER = 6000, RATE = 300000 };

NOINLINE static void serve(int client)
{
	static char page[ANSWER];
	char question;
	for (;;) {
		uint64_t t = now_ns();
		if (recv(client, &question, 1, 0) != 1)
			return;
		truth("idle", t, now_ns());
		if (send(client, page, sizeof(page), MSG_NOSIGNAL) < 0)
			return;
	}
}

static void server(int listening)
{
	int client, rate = RATE;
	child_begin("server");
	role("dbserver");
	client = accept(listening, NULL, NULL);
	if (client < 0 ||
	    setsockopt(client, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)))
		fail("SO_MAX_PACING_RATE");
	serve(client);
	truth_write();
	_exit(0);
}

NOINLINE static void query_db(int fd)
{
	static char page[ANSWER];
	if (send(fd, "q", 1, MSG_NOSIGNAL) != 1)
		fail("send");
	for (ssize_t got = 0, n; got < ANSWER; got += n)
		if ((n = recv(fd, page, sizeof(page), 0)) <= 0)
			fail("recv");
	STAY();
}

NOINLINE static void handle_request(int fd)
{
	uint64_t t = now_ns();
	burn_ns(100 * US);
	query_db(fd);
	burn_ns(50 * US);
	truth("request", t, now_ns());
}

int main(int argc, char **argv)
{
	struct sockaddr_in address;
	int listening, fd;
	pid_t pid;
	requests_begin(argc, argv, "remote");
	listening = listen_on_loopback(&address);
	pid = fork();
	if (pid == 0)
		server(listening);
	role("apiclient");
	fd = connect_to(&address);
	while (more_requests())
		handle_request(fd);
	close(fd);
	waitpid(pid, NULL, 0);
	truth_write();
	return 0;
}
