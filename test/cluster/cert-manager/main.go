// Controllers of cert-manager that issue Certificates of CA issuers and self-signed issuers. The
// program of cert-manager, which also has the ACME and Vault controllers, is not part of a module
// that Go can fetch.
package main

import (
	"context"
	"flag"
	"log"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/cert-manager/cert-manager/pkg/controller"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "file with the credentials of an account that has the permissions of cert-manager")
	authorities := flag.String("cluster-resource-namespace", "cert-manager", "namespace of the secrets of ClusterIssuers")
	flag.Parse()
	stopped, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(stopped, *kubeconfig, *authorities); err != nil {
		log.Fatal(err)
	}
}

func run(stopped context.Context, kubeconfig, authorities string) error {
	running, stopped := errgroup.WithContext(stopped)
	factory, err := controller.NewContextFactory(stopped, controller.ContextOptions{
		Kubeconfig:    kubeconfig,
		IssuerOptions: controller.IssuerOptions{ClusterResourceNamespace: authorities},
	})
	if err != nil {
		return err
	}
	shared, err := factory.Build()
	if err != nil {
		return err
	}
	for _, build := range controller.Known() {
		one, err := build(factory)
		if err != nil {
			return err
		}
		running.Go(func() error { return one.Run(5, stopped) })
	}
	// All controllers watch the same objects.
	shared.SharedInformerFactory.Start(stopped.Done())
	shared.KubeSharedInformerFactory.Start(stopped.Done())
	return running.Wait()
}
